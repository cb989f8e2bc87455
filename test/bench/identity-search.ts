import { readFileSync } from "node:fs";
import { identityLimits } from "../../src/config/config.ts";
import { seededUser } from "../support/identity-seed.ts";
import type { BenchServer } from "./identity-search-server.ts";
import { median } from "./median.ts";
import { mustBe } from "./proof.ts";
import { atRate, isEmpty, must200, perSecond, percentile, rawConnection } from "./raw-load.ts";
import type { BenchRow } from "./row.ts";

const users = Number(process.env.BERTH_BENCH_USERS ?? 1_000_000);
const rounds = 5;
const roundMs = 1_000;
const perClass = 150;
/** More than the service keeps in memory. */
const othersAsked = Math.min(users, 3 * identityLimits.usersKept);

/** Whether each search of a class finds somebody; "some" may, as the numbers of those who are called so are not known. */
type Finds = "each" | "some" | "none";

/** Query classes of a user search; `n` is another number every time, so that nothing is remembered. */
const classes: [string, Finds, (n: number) => string][] = [
  ["exact", "each", (n) => `email:${seededUser(inBoth(n), users).email}`],
  ["prefix", "some", (n) => `email:alice.silva${n % 1_000}*`],
  ["prefix of many", "each", (n) => `name:${["Al", "Br", "Ca", "Da"][n % 4]}*`],
  ["contains, rare", "some", (n) => `email:*silva${n}*`],
  ["ends with, rare", "some", (n) => `email:*${n}@corp.io`],
  ["contains, common", "each", () => "name:*silva*"],
  ["ends with, common", "each", () => "email:*@gmail.com"],
  ["no match", "none", () => "name:*zzzq*"],
  ["date and negation", "some", (n) => `created_at<2025-0${1 + (n % 9)}-15 -email:*gmail*`],
  ["date and ending", "each", (n) => `created_at>2025-0${1 + (n % 9)}-15 email:*@corp.io`],
];

/** The number of a user that the large instance has, and the one of ten too: every ninth, from 4 on, of a fifth of all. */
function inBoth(n: number): number {
  return (n % Math.floor(users / 5 / 9)) * 9 + 4;
}

/** Searches over a million users, in one instance and in one of ten; and what verifying feels of them. */
export async function run(): Promise<BenchRow[]> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/identity-search-server.ts`, String(users)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    const server = await readyLine(child.stdout);
    const rows = [...(await classRows(server, child.pid)), ...(await exactRows(server)), ...(await verifyRows(server))];
    return rows;
  } finally {
    child.stdin.end();
    await child.exited;
  }
}

async function classRows(server: BenchServer, pid: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const bare = await latencies(server.barePort, "each", () => bareSearch("x"));
  const bareP99 = percentile(bare, 0.99);
  for (const [where, key] of Object.entries(server.keys)) {
    for (const [name, finds, query] of classes) {
      const spent = cpuMs(pid);
      const times = await latencies(server.port, finds, (n) => search(key, query(n)));
      const each = (cpuMs(pid) - spent) / perClass;
      const p99 = percentile(times, 0.99);
      console.error(
        `${where} ${name}: p50 ${percentile(times, 0.5).toFixed(1)} p99 ${p99.toFixed(1)} ms, ${each.toFixed(1)} ms of the processor each`,
      );
      const row = { value: p99, unit: "ms p99", baseline: bareP99, ratio: p99 / bareP99, wanted: "value <= 50" };
      rows.push({ name: `search ${users} users (${where}): ${name}`, ...row });
    }
  }
  return rows;
}

/** What the process has used so far; what is measured by the clock also tells of everybody else on the machine. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function latencies(port: number, finds: Finds, request: (n: number) => string): Promise<number[]> {
  const connection = await rawConnection(port);
  const times: number[] = [];
  let found = 0;
  for (let asked = 0; asked < perClass; asked++) {
    const text = request((asked * 7_919) % users);
    const begun = performance.now();
    must200(await connection.ask(text));
    times.push(performance.now() - begun);
    if (!isEmpty(connection)) found += 1;
  }
  connection.close();
  if (finds !== "some") mustBe(`searches that found somebody: ${request(0)}`, found, finds === "each" ? perClass : 0);
  return times;
}

/** One user again and again, as an app asks for those who are using it, and another one each time. */
async function exactRows(server: BenchServer): Promise<BenchRow[]> {
  const query = `email:${server.exactEmail}`;
  const ask = (email: string) => Buffer.from(search(server.keys.large, `email:${email}`));
  const one = [ask(server.exactEmail)];
  const others = Array.from({ length: othersAsked }, (_, n) => ask(seededUser((n * 13) % users, users).email));
  const bareRequest = [Buffer.from(bareSearch(query))];
  const figures: { one: number; others: number; bare: number }[] = [];
  let asked = 0;
  for (let round = 0; round < rounds; round++) {
    // Goes on where the last round has ended: from the beginning it would ask for users who are still kept.
    const next = [...others.slice(asked), ...others.slice(0, asked)];
    const figure = {
      bare: await perSecond(server.barePort, bareRequest, 32, roundMs),
      one: await perSecond(server.port, one, 32, roundMs),
      others: await perSecond(server.port, next, 32, roundMs),
    };
    figures.push(figure);
    asked = (asked + Math.ceil((figure.others * roundMs) / 1_000)) % others.length;
  }
  const row = (name: string, of: "one" | "others", wanted: string) => ({
    name: `exact match beside a bare route with the same query and answer: ${name}`,
    value: median(figures.map((figure) => figure[of])),
    unit: "requests/s",
    baseline: median(figures.map(({ bare }) => bare)),
    ratio: median(figures.map((figure) => figure[of] / figure.bare)),
    wanted,
  });
  return [row("the same user again", "one", ">= 0.6"), row("another user each time", "others", ">= 0.5")];
}

/** The same fixed rate, half of what is possible, with contains-searches beside it and without. */
async function verifyRows(server: BenchServer): Promise<BenchRow[]> {
  const request = verify(server);
  const most = await perSecond(server.port, [request], 32, roundMs);
  const figures: { alone: number; beside: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = percentile(await atRate(server.port, request, most / 2, 2 * roundMs), 0.99);
    const searching = startSearches(server);
    const beside = percentile(await atRate(server.port, request, most / 2, 2 * roundMs), 0.99);
    await searching.stop();
    figures.push({ alone, beside });
  }
  const [alone, beside] = [median(figures.map((one) => one.alone)), median(figures.map((one) => one.beside))];
  return [
    {
      name: `verify at ${Math.round(most / 2)}/s, contains-searches beside it`,
      value: beside,
      unit: "ms p99",
      baseline: alone,
      ratio: beside / alone,
      wanted: "beside what it is alone",
    },
  ];
}

function startSearches(server: BenchServer): { stop(): Promise<void> } {
  let over = false;
  const loops = ["name:*silva*", "email:*77777@corp.io", "email:*@gmail.com"].map(async (query) => {
    const connection = await rawConnection(server.port);
    while (!over) {
      must200(await connection.ask(search(server.keys.large, query)));
      await Bun.sleep(20);
    }
    connection.close();
  });
  return {
    async stop() {
      over = true;
      await Promise.all(loops);
    },
  };
}

function search(key: string, query: string): string {
  const path = `/api/v1/users/search?query=${encodeURIComponent(query)}`;
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Service-Secret-Key: ${key}\r\n\r\n`;
}

function bareSearch(query: string): string {
  return `GET /bare?query=${encodeURIComponent(query)} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

function verify({ keys, token }: BenchServer): Buffer {
  const body = JSON.stringify({ token });
  const head = `X-Service-Secret-Key: ${keys.large}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return Buffer.from(`POST /api/v1/tokens/verify HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n${body}`);
}

async function readyLine(stdout: ReadableStream<Uint8Array>): Promise<BenchServer> {
  let text = "";
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk);
    const end = text.indexOf("\n");
    if (end >= 0) return JSON.parse(text.slice(0, end)) as BenchServer;
  }
  throw new Error("the server ended before it was ready");
}

if (import.meta.main) console.log(JSON.stringify(await run(), null, 2));
