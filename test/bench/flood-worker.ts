import { readFileSync } from "node:fs";

/** A request that is sent again and again. */
export interface FloodRequest {
  url: string;
  headers: Record<string, string>;
  /** File of the body. */
  body: string;
}

/** `flood-worker.ts FILE CONNECTIONS`: the file holds a list of `FloodRequest`. */
const [file = "", connections = "1"] = process.argv.slice(2);
const requests = (JSON.parse(readFileSync(file, "utf8")) as FloodRequest[]).map(({ body, ...request }) => ({
  ...request,
  body: readFileSync(body),
}));

/** What became of the requests: how often each status was the answer, and how many had none. */
export type FloodCounts = Record<string, number>;

const counts: FloodCounts = {};
/** The first answer is told: from then on there is a flood to measure beside. */
let isTold = false;
// The last thing that it does: who sent the signal reads the counts.
process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify(counts), () => process.exit(0));
});

async function statusOf(sent: Promise<Response>): Promise<string> {
  try {
    const response = await sent;
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return "none";
  }
}

async function again(first: number): Promise<never> {
  for (let at = first; ; at++) {
    const one = requests[at % requests.length];
    if (one === undefined) throw new Error(`${file} names no request`);
    const { url, headers, body } = one;
    const outcome = await statusOf(fetch(url, { method: "POST", headers, body }));
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    if (!isTold) process.stdout.write("answered\n");
    isTold = true;
    if (outcome === "none") await Bun.sleep(1);
  }
}

await Promise.all(Array.from({ length: Number(connections) }, (_, at) => again(at)));
