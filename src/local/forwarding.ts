import { readFileSync } from "node:fs";
import type { Clock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import { type ForwardingFacts, forwardingMend } from "./checks.ts";
import { getJson, isListening, record } from "./probe.ts";

interface Pod {
  name: string;
  pid: number;
  address: string;
}

const podsMax = 16;
/** So many pairs have to fail before it counts. */
const pairsMax = 2;
const connectMs = 2_000;

/**
 * Tries what an app would: from within the network of one running container, a connection to a port that another one
 * listens on. Blocked means that it fails twice, while this machine itself gets through to the same port.
 */
export async function examineForwarding(dockerHost: string, network: string): Promise<ForwardingFacts> {
  if (Bun.which("nsenter") === null || Bun.which("bash") === null) {
    return { state: "untested", detail: "not tested: it takes nsenter and bash" };
  }
  const pods = await podsOn(dockerHost, network);
  const targets = pods.flatMap((pod) => listeningPorts(pod).map((port) => ({ ...pod, port })));
  const failed: string[] = [];
  for (const target of targets) {
    const source = pods.find(({ name }) => name !== target.name);
    if (source === undefined || failed.length === pairsMax) break;
    const reached = await tryPair(source, target);
    if (reached === "denied") return { state: "untested", detail: "not tested: only root may enter their networks" };
    if (reached === "open") {
      return { state: "open", detail: `tried: ${source.name} reaches ${target.name}, port ${target.port}` };
    }
    if (reached === "blocked") failed.push(`${source.name} cannot reach ${target.name}, port ${target.port}`);
  }
  if (failed.length === 0) {
    return { state: "untested", detail: `not tested: no two containers on ${network}, one of them listening` };
  }
  const detail = `${failed.join("; ")}, although this machine can${causes()}`;
  return { state: "blocked", detail, bridge: await bridgeOf(dockerHost, network) };
}

type Reached = "open" | "blocked" | "denied" | "unclear";

/** `unclear`: the port may have closed meanwhile. */
async function tryPair(source: Pod, target: Pod & { port: number }): Promise<Reached> {
  const first = await connectWithin(source.pid, target);
  if (first !== "shut") return first;
  const fromHere = isListening(`${target.address}:${target.port}`);
  if (!(await Promise.race([fromHere, Bun.sleep(connectMs).then(() => false)]))) return "unclear";
  const second = await connectWithin(source.pid, target);
  return second === "shut" ? "blocked" : second;
}

async function connectWithin(
  pid: number,
  { address, port }: { address: string; port: number },
): Promise<"open" | "shut" | "denied"> {
  const script = `echo inside; exec 3<>/dev/tcp/${address}/${port} && echo open`;
  const run = Bun.spawn(["nsenter", `--net=/proc/${pid}/ns/net`, "--", "bash", "-c", script], {
    stdout: "pipe",
    stderr: "ignore",
    timeout: connectMs,
    killSignal: "SIGKILL",
  });
  const said = await new Response(run.stdout).text();
  await run.exited;
  if (!said.includes("inside")) return "denied";
  return said.includes("open") ? "open" : "shut";
}

async function podsOn(dockerHost: string, network: string): Promise<Pod[]> {
  const filters = encodeURIComponent(JSON.stringify({ network: [network], status: ["running"] }));
  const rows = await getJson(dockerHost, `/containers/json?limit=${podsMax}&filters=${filters}`);
  const ids = Object.values(rows).map((row) => String(record(row).Id));
  const found = await Promise.all(ids.map((id) => getJson(dockerHost, `/containers/${id}/json`).catch(() => ({}))));
  return found.map(podOf(network)).filter(({ pid, address }) => pid > 0 && address !== "");
}

function podOf(network: string): (container: Record<string, unknown>) => Pod {
  return (container) => {
    const own = record(record(record(container.NetworkSettings).Networks)[network]);
    const pid = Number(record(container.State).Pid ?? 0);
    return { name: String(container.Name ?? "").replace(/^\//, ""), pid, address: String(own.IPAddress ?? "") };
  };
}

function listeningPorts({ pid, address }: Pod): number[] {
  try {
    return portsIn(
      readFileSync(`/proc/${pid}/net/tcp`, "utf8") + readFileSync(`/proc/${pid}/net/tcp6`, "utf8"),
      address,
    );
  } catch {
    return [];
  }
}

const listening = "0A";

/** Ports of the kernel's tables (`/proc/PID/net/tcp`) that take connections to this IPv4 address. */
export function portsIn(tables: string, address: string): number[] {
  const octets = address.split(".").map((octet) => Number(octet).toString(16).padStart(2, "0"));
  const own = octets.reverse().join("").toUpperCase();
  const ports = tables.split("\n").flatMap((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const [at = "", port = ""] = local.split(":");
    const takes = /^0+$/.test(at) || at.endsWith(own);
    return state === listening && takes ? [Number.parseInt(port, 16)] : [];
  });
  return [...new Set(ports)];
}

/** What this machine shows that explains it, as far as it does. */
function causes(): string {
  const isBridged = readText("/proc/sys/net/bridge/bridge-nf-call-iptables").trim() === "1";
  const drops =
    Bun.which("iptables") !== null && /^-P FORWARD (?:DROP|REJECT)/m.test(output(["iptables", "-S", "FORWARD"]));
  const seen = [
    ...(isBridged ? ["br_netfilter hands what crosses a bridge to the firewall"] : []),
    ...(drops ? ["the FORWARD chain drops what no rule lets through"] : []),
  ];
  return seen.length === 0 ? "" : ` (${seen.join(", ")})`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function output(command: string[]): string {
  return Bun.spawnSync(command, { timeout: connectMs, stderr: "ignore" }).stdout.toString();
}

/** As Docker names it: after the network's id unless an option says otherwise. */
async function bridgeOf(dockerHost: string, network: string): Promise<string> {
  const found: Record<string, unknown> = await getJson(dockerHost, `/networks/${network}`).catch(() => ({}));
  const named = record(found.Options)["com.docker.network.bridge.name"];
  return typeof named === "string" ? named : `br-${String(found.Id ?? "").slice(0, 12)}`;
}

interface WatchParts {
  examine: () => Promise<ForwardingFacts>;
  clock: Clock;
  log: Log;
  firstMs: number;
  everyMs: number;
}

/** Looks now and then; the log tells a change once. */
export function createForwardingWatch({ examine, clock, log, firstMs, everyMs }: WatchParts) {
  let facts: ForwardingFacts | undefined;

  async function look(): Promise<void> {
    const found = await examine();
    const before = facts?.state;
    facts = found;
    if (found.state === "blocked" && before !== "blocked") {
      log.warn("containers cannot reach each other", {
        detail: found.detail,
        mend: forwardingMend(found.bridge ?? ""),
      });
    }
    if (found.state === "open" && before === "blocked") log.info("containers reach each other again", {});
  }

  return {
    /** Undefined before the first look. */
    facts: () => facts,
    async run(signal: AbortSignal): Promise<void> {
      for (let pauseMs = firstMs; !signal.aborted; pauseMs = everyMs) {
        await clock.sleep(pauseMs, signal);
        if (!signal.aborted) await look().catch((error) => log.debug("forwarding not tested", { error }));
      }
    },
  };
}
