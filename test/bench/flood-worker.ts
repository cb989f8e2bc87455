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

async function again(first: number): Promise<never> {
  for (let at = first; ; at++) {
    const one = requests[at % requests.length];
    if (one === undefined) throw new Error(`${file} names no request`);
    const { url, headers, body } = one;
    const sent = fetch(url, { method: "POST", headers, body });
    await sent.then((response) => response.arrayBuffer()).catch(() => Bun.sleep(1));
  }
}

await Promise.all(Array.from({ length: Number(connections) }, (_, at) => again(at)));
