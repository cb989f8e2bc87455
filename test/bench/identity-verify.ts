import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { identityWorld } from "../support/identity.ts";
import { fillWithTokens, type ServerLine } from "./identity-server.ts";
import type { LoadOrder } from "./load.ts";
import { startLoader } from "./loader.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./row.ts";

const rounds = 9;
const roundMs = 1_000;
/** Of `/proc/<pid>/stat`. */
const ticksPerSecond = 100;

/**
 * `POST /tokens/verify` with 10,000 tokens against a bare Elysia route with the same body schema and an answer of the
 * same length, and against itself with jose in place of our own HMAC: by the clock, and by what it costs the server,
 * which other work on the machine disturbs less. Then the verification alone.
 */
export async function run(): Promise<BenchRow[]> {
  return [...(await overHttp()), await alone()];
}

interface Figure {
  perSecond: number;
  perCpuSecond: number;
}

async function overHttp(): Promise<BenchRow[]> {
  const [bare, ours, jose] = await Promise.all([side("bare"), side("ours"), side("jose")]);
  const figures: { bare: Figure; ours: Figure; jose: Figure }[] = [];
  // The first rounds warm up.
  for (let round = -2; round < rounds; round += 1) {
    const figure = { bare: await bare.load(), ours: await ours.load(), jose: await jose.load() };
    if (round >= 0) figures.push(figure);
  }
  await Promise.all([bare.stop(), ours.stop(), jose.stop()]);
  const row = (against: "bare" | "jose", by: keyof Figure, wanted: string): BenchRow => ({
    name: `POST /tokens/verify against ${against === "bare" ? "a bare route" : "itself with jose"}`,
    value: Math.round(median(figures.map((figure) => figure.ours[by]))),
    unit: by === "perSecond" ? "requests/s" : "requests/CPU s",
    baseline: Math.round(median(figures.map((figure) => figure[against][by]))),
    ratio: median(figures.map((figure) => figure.ours[by] / figure[against][by])),
    wanted,
  });
  const by = ["perSecond", "perCpuSecond"] as const;
  return by.flatMap((one) => [row("bare", one, ">= 0.55"), row("jose", one, ">= 1.4")]);
}

async function side(name: string) {
  const script = join(import.meta.dir, "identity-server.ts");
  const server = Bun.spawn([process.execPath, script, name], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const { port, requests } = JSON.parse(await firstLine(server.stdout)) as ServerLine;
  const order: LoadOrder = { hostname: "127.0.0.1", port, path: "/", requests, connections: 32, durationMs: roundMs };
  const loader = startLoader();
  return {
    async load(): Promise<Figure> {
      const before = cpuSeconds(server.pid);
      const perSecond = await loader.perSecond(order);
      const spent = cpuSeconds(server.pid) - before;
      return { perSecond, perCpuSecond: (perSecond * roundMs) / 1_000 / spent };
    },
    async stop() {
      loader.stop();
      await server.stdin.end();
      await server.exited;
    },
  };
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (text.endsWith("\n")) return text;
  }
  throw new Error("the server ended before it served");
}

/** In user and kernel mode, of all threads. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Behind the name, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Without HTTP and look-ups: signature, header and claims. */
async function alone(): Promise<BenchRow> {
  const world = identityWorld();
  const tenant = await world.tenant();
  const tokens = await fillWithTokens(world, tenant);
  const entry = tenant.entry();
  const secret = new TextEncoder().encode(tenant.secretKey);
  const options = { algorithms: ["HS256"], currentDate: new Date(world.clock.now()) };
  const ours = () => {
    for (const token of tokens) {
      if (typeof world.running.identity.tokens.read(entry, token) === "string") throw new Error("refused");
    }
    return Promise.resolve();
  };
  const jose = async () => {
    for (const token of tokens) await jwtVerify(token, secret, options);
  };
  const figures: { ours: number; jose: number }[] = [];
  for (let round = -2; round < rounds; round += 1) {
    const figure = { ours: await rate(tokens, ours), jose: await rate(tokens, jose) };
    if (round >= 0) figures.push(figure);
  }
  world.close();
  return {
    name: "verification alone against jose",
    value: Math.round(median(figures.map((figure) => figure.ours))),
    unit: "tokens/CPU s",
    baseline: Math.round(median(figures.map((figure) => figure.jose))),
    ratio: median(figures.map((figure) => figure.ours / figure.jose)),
    wanted: ">= 5",
  };
}

/** Tokens per second of our own time, threads included: jose uses several. */
async function rate(tokens: string[], work: () => Promise<void>): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (tokens.length * 1_000_000) / (user + system);
}

if (import.meta.main) console.log(JSON.stringify(await run(), null, 2));
