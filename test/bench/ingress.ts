import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/ports.ts";
import { median } from "./median.ts";
import { startOwn } from "./own-proxy.ts";
import { mustBe } from "./proof.ts";
import {
  cpuUs,
  favour,
  hostName,
  type Measured,
  memoryMb,
  page,
  pin,
  restCore,
  startBareHaproxy,
  startCaddy,
  startNginx,
  startUpstream,
} from "./proxies.ts";
import { atRate, percentile } from "./raw-load.ts";
import type { BenchRow } from "./row.ts";
import { silentReceiver } from "./silent-receiver.ts";

const rounds = 3;
const roundSeconds = 3;
const connections = 64;
const downloads = 8;
const manyHosts = 1_000;
const mostHosts = 10_000;
const changes = 20;
/** So many answers in a row tell that a change is live. */
const answersInRow = 20;
const latencyMs = 3_000;
/** What the load of this process can do beside the upstream on one core without a queue of its own, which p50 would show. */
const rateMax = 1_000;

/** On a machine that is shared, for figures without the others: these nearly stand still for two minutes. */
const isFirst = process.env.BERTH_BENCH_FIRST === "1";

type Kind =
  "own" | "unspliced" | "logging" | "nginx" | "duties" | "duties logging" | "bare" | "caddy" | "most" | "nginx most";
type Figures = Record<Kind, number>;

interface World {
  folder: string;
  upstream: number;
  other: number;
}

/**
 * HAProxy as the server runs it, nginx (bare, and with all that the ingress does), HAProxy without rules, and Debian's
 * caddy: the same upstream, one core for the proxy that is measured and one for everything else, in turns. Needs two cores, wrk, nginx and caddy.
 */
export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-ingress-"));
  const world: World = { folder, upstream: await freePort(), other: await freePort() };
  pin(restCore, process.pid);
  const ends: (() => Promise<void>)[] = [];
  try {
    ends.push(await startUpstream(join(folder, "upstream"), [world.upstream, world.other]));
    const receiver = await silentReceiver();
    ends.push(receiver.stop);
    const small = await startAll(world, receiver.port, ends);
    if (isFirst) favour(true, [process.pid, ...Object.values(small).flatMap((one) => one.pids())]);
    await requireSame(small, world);
    return [
      ...(await speed(small, receiver.lines)),
      ...(await latency(small, world)),
      ...(await live(small, world)),
      ...size(small),
    ];
  } finally {
    if (isFirst) favour(false, [process.pid]);
    for (const end of ends.toReversed()) await end();
    pin(`0-${navigator.hardwareConcurrency - 1}`, process.pid);
    rmSync(folder, { recursive: true, force: true });
  }
}

type All = Record<Kind, Measured>;

async function startAll(world: World, logTo: number, ends: (() => Promise<void>)[]): Promise<All> {
  const order = async (name: string, hosts: number) => ({
    folder: join(world.folder, name),
    port: await freePort(),
    hosts,
    upstreamPort: world.upstream,
  });
  const kept = async (starting: Promise<Measured>) => {
    const one = await starting;
    ends.push(() => one.stop());
    return one;
  };
  return {
    own: await kept(startOwn(await order("own", manyHosts))),
    unspliced: await kept(startOwn({ ...(await order("unspliced", manyHosts)), splicesMax: 0 })),
    logging: await kept(startOwn({ ...(await order("logging", manyHosts)), logTo })),
    nginx: await kept(startNginx(await order("nginx", manyHosts))),
    duties: await kept(startNginx(await order("duties", manyHosts), "same")),
    "duties logging": await kept(startNginx(await order("duties-logging", manyHosts), { linesTo: logTo })),
    bare: await kept(startBareHaproxy(await order("bare", manyHosts))),
    caddy: await kept(startCaddy({ ...(await order("caddy", manyHosts)), adminPort: await freePort() })),
    most: await kept(startOwn(await order("most", mostHosts))),
    "nginx most": await kept(startNginx(await order("nginx-most", mostHosts))),
  };
}

/** One host in the middle: whoever looks through a list meets half of it. */
const middle = (kind: Kind) => (kind.endsWith("most") ? mostHosts : manyHosts) / 2;

/** All of them lead to the same upstream, and pass on what it says whole. */
async function requireSame(all: All, { upstream }: World): Promise<void> {
  for (const kind of Object.keys(all) as Kind[]) {
    const { port } = all[kind];
    mustBe(`the page by ${kind}`, await page(port, middle(kind)), `${upstream}\n`);
    const answer = await fetch(`http://127.0.0.1:${port}/big`, { headers: { host: hostName(middle(kind)) } });
    mustBe(
      `the download by ${kind}`,
      [answer.status, (await answer.arrayBuffer()).byteLength],
      [200, 10 * 1_024 * 1_024],
    );
  }
}

async function speed(all: All, lines: () => number): Promise<BenchRow[]> {
  const kinds = Object.keys(all) as Kind[];
  const spent = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
  const requests = await inTurns(kinds, async (kind) => {
    const pids = all[kind].pids();
    const before = cpuUs(pids);
    const linesBefore = lines();
    const { perSecond, count } = await load(all[kind].port, { host: middle(kind), path: "/", connections });
    spent.get(kind)?.push((cpuUs(pids) - before) / count);
    const told = lines() - linesBefore;
    if (kind.endsWith("logging")) mustBe(`whether ${told} lines are of ${count} requests`, told > count * 0.98, true);
    return perSecond;
  });
  const big = await inTurns(["own", "unspliced", "nginx", "caddy"], async (kind) => {
    const { perSecond } = await load(all[kind].port, { host: middle(kind), path: "/big", connections: downloads });
    return perSecond;
  });
  const perSecond = (name: string, [a, b]: [Kind, Kind], wanted: string) =>
    row({ name, unit: "requests/s", value: requests[a], baseline: requests[b], wanted });
  const cpu = (name: string, [a, b]: [Kind, Kind]) => {
    const of = (kind: Kind) => median(spent.get(kind) ?? []);
    return row({ name, unit: "µs", value: of(a), baseline: of(b), wanted: "for comparison" });
  };
  const downloaded = (name: string, to: Kind, wanted: string) =>
    row({ name, unit: "MB/s", value: big.own * 10, baseline: big[to] * 10, wanted });
  return [
    perSecond("ingress, 1,000 hosts, to nginx", ["own", "nginx"], ">= 0.9"),
    perSecond("ingress, 1,000 hosts, to nginx with the same duties", ["own", "duties"], ">= 0.9"),
    perSecond("HAProxy without rules, to nginx", ["bare", "nginx"], "for comparison"),
    perSecond("ingress with a line per request, to nginx", ["logging", "nginx"], ">= 0.75"),
    perSecond("ingress with a line per request, to nginx with the same", ["logging", "duties logging"], ">= 0.75"),
    cpu("CPU of a request, to nginx", ["own", "nginx"]),
    cpu("CPU of a request, to nginx with the same duties", ["own", "duties"]),
    cpu("CPU of a request with its line, to nginx with the same", ["logging", "duties logging"]),
    cpu("CPU of a request, to HAProxy without rules", ["own", "bare"]),
    perSecond("ingress, 1,000 hosts, to caddy", ["own", "caddy"], ">= 4"),
    perSecond("ingress, 10,000 hosts, to 1,000", ["most", "own"], ">= 0.9"),
    perSecond("nginx, 10,000 hosts, to 1,000", ["nginx most", "nginx"], "for comparison"),
    downloaded("downloads of 10 MB, to nginx", "nginx", ">= 1.0"),
    downloaded("downloads of 10 MB, to the same without splicing", "unspliced", "> 1"),
    downloaded("downloads of 10 MB, to caddy", "caddy", "for comparison"),
  ];
}

interface Load {
  host: number;
  path: string;
  connections: number;
}

/** Requests, and how many a second, as wrk counts them; fails when one is not answered with 200. */
async function load(port: number, order: Load): Promise<{ perSecond: number; count: number }> {
  const head = ["-H", `Host: ${hostName(order.host)}`];
  const size = ["-t1", `-c${order.connections}`, `-d${roundSeconds}s`];
  const child = Bun.spawn(
    ["taskset", "-c", restCore, "wrk", ...size, ...head, `http://127.0.0.1:${port}${order.path}`],
    {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const text = await new Response(child.stdout).text();
  const found = /^Requests\/sec:\s+([\d.]+)/m.exec(text)?.[1];
  const count = /^\s*(\d+) requests in/m.exec(text)?.[1];
  if (found === undefined || count === undefined || /Non-2xx|Socket errors/.test(text))
    throw new Error(`wrk on port ${port}:\n${text}`);
  return { perSecond: Number(found), count: Number(count) };
}

/** p50 at a fixed rate, without the p50 of the upstream alone. */
async function latency(all: All, { upstream }: World): Promise<BenchRow[]> {
  const half = Math.min(rateMax, (await load(all.own.port, { host: 0, path: "/", connections })).perSecond / 2);
  const rate = Math.floor(half);
  const p50 = async (port: number) => {
    const request = Buffer.from(`GET / HTTP/1.1\r\nHost: ${hostName(0)}\r\n\r\n`);
    return percentile(await atRate(port, request, rate, latencyMs), 0.5);
  };
  const added = await inTurns(["own", "logging", "nginx"], async (kind) => {
    const direct = await p50(upstream);
    return (await p50(all[kind].port)) - direct;
  });
  const wanted = "value <= 0.5";
  const to = { unit: "ms", baseline: added.nginx, wanted };
  return [
    row({ name: `added p50 at ${rate}/s, to nginx`, value: added.own, ...to }),
    row({ name: `added p50 at ${rate}/s with lines, to nginx`, value: added.logging, ...to }),
  ];
}

/** From the change of one route to the first answer from its new upstream. */
async function live(all: All, { upstream, other }: World): Promise<BenchRow[]> {
  const took = await inTurns(["own", "most", "nginx", "caddy"], async (kind) => {
    const times: number[] = [];
    for (let change = 0; change < changes; change += 1) {
      const to = change % 2 === 0 ? other : upstream;
      const begun = performance.now();
      await all[kind].route(1, to);
      times.push((await liveAt(all[kind].port, to, isOurs(kind))) - begun);
    }
    return median(times);
  });
  const wanted = "value <= 5";
  return [
    row({ name: "one route changed live, to nginx", unit: "ms", value: took.own, baseline: took.nginx, wanted }),
    row({ name: "one route changed live, to caddy", unit: "ms", value: took.own, baseline: took.caddy, wanted }),
    row({ name: "one route of 10,000, to one of 1,000", unit: "ms", value: took.most, baseline: took.own, wanted }),
  ];
}

/** A load of nginx resets connections; ours may not. */
const isOurs = (kind: Kind) => kind === "own" || kind === "most";

/** Of the first of several answers in a row: while processes take turns, an answer may be one of the past. */
async function liveAt(port: number, to: number, noneMayFail: boolean): Promise<number> {
  let at = 0;
  for (let inRow = 0; inRow < answersInRow;) {
    const said = await page(port, 1).catch((error: unknown) => {
      if (noneMayFail) throw error;
      return "";
    });
    const isNew = said.trim() === String(to);
    if (isNew && inRow === 0) at = performance.now();
    inRow = isNew ? inRow + 1 : 0;
  }
  return at;
}

function size(all: All): BenchRow[] {
  const { most, "nginx most": nginx } = all;
  const started = { value: most.startMs, baseline: nginx.startMs, wanted: "value <= 2000" };
  const memory = { value: memoryMb(most.pids()), baseline: memoryMb(nginx.pids()), wanted: "value <= 150" };
  return [
    row({ name: "start with 10,000 hosts, to nginx", unit: "ms", ...started }),
    row({ name: "memory with 10,000 hosts, to nginx", unit: "MB", ...memory }),
  ];
}

/** Medians of interleaved rounds. */
async function inTurns(kinds: readonly Kind[], measure: (kind: Kind) => Promise<number>): Promise<Figures> {
  const found = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds) found.get(kind)?.push(await measure(kind));
  }
  const of = (kind: Kind) => median(found.get(kind) ?? []);
  return {
    own: of("own"),
    unspliced: of("unspliced"),
    logging: of("logging"),
    nginx: of("nginx"),
    duties: of("duties"),
    "duties logging": of("duties logging"),
    bare: of("bare"),
    caddy: of("caddy"),
    most: of("most"),
    "nginx most": of("nginx most"),
  };
}

function row(row: Omit<BenchRow, "ratio">): BenchRow {
  return { ...row, ratio: row.value / row.baseline };
}
