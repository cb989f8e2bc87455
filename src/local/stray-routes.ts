import { readFileSync } from "node:fs";
import type { Check } from "./checks.ts";
import { getJson, record } from "./probe.ts";
import { writeAtomic } from "../base/disk/atomic-write.ts";
import { isSubnet, type RouteRow, routeRows } from "../base/pure/route-table.ts";
import type { SteadyClock } from "../base/words/clock.ts";
import { sleepAbout } from "../base/words/sleep-about.ts";
import type { Log } from "../base/words/log.ts";

/**
 * While the bridge of the platform's network is gone, the kernel would send what is meant for a container by the
 * default route, out of the machine: requests of visitors, with their cookies, to whatever has that address there. An
 * unreachable route behind each subnet refuses these connections instead. The route of the bridge has a lower metric, so
 * it counts as long as it is there.
 */
interface StrayRoutes {
  /** Closes what an earlier server has closed: the machine may have booted since. */
  restore(): Promise<void>;
  /** Looks where the network is, and closes its subnets. Calls while it looks share that look. */
  look(): Promise<void>;
  /** Looks now and then, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** A number that tells these routes from those of others: "bert" in ASCII. */
const strayMetric = 1_650_815_604;

interface Closed {
  subnet: string;
  /** When the network was first seen elsewhere, epoch milliseconds; absent while it is there. */
  leftAt?: number;
}

interface StrayOptions {
  /** IPv4 subnets of the platform's network; none while there is no network. Rejects while the engine is away. */
  subnets: () => Promise<string[]>;
  /** Keeps what is closed, for the next server and for an uninstall. */
  file: string;
  table?: () => string;
  change?: ChangeRoute;
  clock: SteadyClock;
  log: Log;
  limits: { lookMs: number; formerMs: number; subnetsMax: number; changeMs: number };
}

type ChangeRoute = (verb: "replace" | "del", subnet: string) => Promise<void>;

export function createStrayRoutes(options: StrayOptions): StrayRoutes {
  const { subnets, file, clock, log, limits } = options;
  const { table = readTable, change = changeBy(limits.changeMs) } = options;
  let closed = closedIn(file);
  let trouble = "";
  let kept = JSON.stringify(closed);
  let looking: Promise<void> | undefined;

  /** A disk that refuses the file is asked again with the next look. */
  async function keep(text: string): Promise<void> {
    if (text === kept) return;
    try {
      await writeAtomic(file, text, 0o600);
      kept = text;
    } catch (error) {
      log.debug("the subnets of the platform's network are not kept yet", { error });
    }
  }

  async function restore(): Promise<void> {
    const there = new Set(
      routeRows(table())
        .filter(isOurs)
        .map(({ subnet }) => subnet),
    );
    for (const { subnet } of closed) if (!there.has(subnet)) await change("replace", subnet);
    trouble = "";
  }

  async function lookOnce(): Promise<void> {
    // An engine that is away is reported elsewhere; what is closed stays closed.
    const there = await subnets().catch(() => undefined);
    if (there === undefined) return restore();
    const current = bridgesIn(routeRows(table()), there);
    const next = nextClosed(closed, { current, now: clock.now(), ...limits });
    const gone = closed.filter(({ subnet }) => !next.some((one) => one.subnet === subnet));
    closed = next;
    await restore();
    for (const { subnet } of gone) await change("del", subnet).catch(() => undefined);
    await keep(JSON.stringify(closed));
  }

  /** The same trouble is reported once. */
  function report(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    if (text !== trouble) log.warn("connections to containers that are gone may leave this machine", { error: text });
    trouble = text;
  }

  const look = () => {
    looking ??= lookOnce()
      .catch(report)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  return {
    restore: () => restore().catch(report),
    look,
    async run(signal) {
      while (!signal.aborted) {
        await look();
        await sleepAbout(clock, limits.lookMs, signal);
      }
    },
  };
}

/** Subnets that this machine has a bridge for: what an engine elsewhere has is not ours to close. */
function bridgesIn(rows: readonly RouteRow[], subnets: readonly string[]): string[] {
  return subnets.filter((subnet) => rows.some((row) => row.subnet === subnet && !row.isUnreachable));
}

/** What is closed from now on. Where there is no network, the last one stays closed: that is what it is for. */
export function nextClosed(
  closed: readonly Closed[],
  {
    current,
    now,
    formerMs,
    subnetsMax,
  }: { current: readonly string[]; now: number; formerMs: number; subnetsMax: number },
): Closed[] {
  const former = closed
    .filter(({ subnet }) => !current.includes(subnet))
    .map((one) => (current.length === 0 || one.leftAt !== undefined ? one : { ...one, leftAt: now }))
    .filter(({ leftAt = now }) => now - leftAt < formerMs);
  return [...former, ...current.map((subnet) => ({ subnet }))].slice(-subnetsMax);
}

/** What a server has closed, by its file. */
export function closedIn(file: string): Closed[] {
  try {
    const rows: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(rows) ? rows.filter(isClosed) : [];
  } catch {
    return [];
  }
}

function isClosed(row: unknown): row is Closed {
  if (typeof row !== "object" || row === null || !("subnet" in row) || typeof row.subnet !== "string") return false;
  return isSubnet(row.subnet) && (!("leftAt" in row) || typeof row.leftAt === "number");
}

/** Whether one of these routes. */
function isOurs({ isUnreachable, metric }: RouteRow): boolean {
  return isUnreachable && metric === strayMetric;
}

function readTable(): string {
  return readFileSync("/proc/net/route", "utf8");
}

/** The command that closes a subnet, or opens it again. */
export function routeCommand(verb: "replace" | "del", subnet: string): string[] {
  return ["ip", "-4", "route", verb, "unreachable", subnet, "metric", String(strayMetric)];
}

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function changeBy(timeout: number): ChangeRoute {
  return async (verb, subnet) => {
    const [name = "", ...words] = routeCommand(verb, subnet);
    const program = Bun.which(name) ?? Bun.which(name, { PATH: searchPath });
    if (program === null) throw new Error("the program ip is missing: install iproute2");
    const child = Bun.spawn([program, ...words], { stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout });
    const said = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`${[name, ...words].join(" ")}: ${said.trim()}`);
  };
}

/** Whether connections to containers that are gone stay on this machine. */
interface StrayFacts {
  network: string;
  /** Subnets of the platform's network; empty until the network exists. */
  subnets: readonly string[];
  rows: readonly RouteRow[];
}

export function checkStrays({ network, subnets, rows }: StrayFacts): Check {
  const name = "stray connections";
  const here = bridgesIn(rows, subnets);
  if (here.length === 0) return { name, status: "skip", detail: `this machine has no bridge of network "${network}"` };
  const open = here.filter((subnet) => !rows.some((row) => row.subnet === subnet && isOurs(row)));
  if (open.length === 0) {
    return { name, status: "ok", detail: `connections to containers that are gone stay here (${here.join(", ")})` };
  }
  return {
    name,
    status: "warn",
    detail: `if network "${network}" is removed, connections to ${open.join(", ")} leave this machine by its default route`,
    mend: `start the server as root, with iproute2 installed; or: ${open.map((subnet) => routeCommand("replace", subnet).join(" ")).join("; ")}`,
  };
}

/** The list of subnets is empty until the network exists. */
export async function strayFacts(dockerHost: string, network: string): Promise<StrayFacts> {
  const found: Record<string, unknown> = await getJson(dockerHost, `/networks/${network}`).catch(() => ({}));
  const configs = record(found.IPAM).Config;
  const subnets = (Array.isArray(configs) ? configs : []).map((config) => String(record(config).Subnet ?? ""));
  return { network, subnets, rows: routeRows(readTable()) };
}
