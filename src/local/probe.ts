import { existsSync, realpathSync, statSync } from "node:fs";
import { direct } from "../base/wire/outgoing.ts";
import { layoutOf } from "../base/disk/layout.ts";
import type { ServeFlags } from "../config/config.ts";
import { settingFlags } from "../config/shown-settings.ts";
import type { IngressFacts } from "./check-ingress.ts";
import type { ClockFacts, DockerFacts, ServerFacts } from "./checks.ts";

const answerMs = 3_000;

/** Facts from Docker's `/version` and `/info`, or why there are none. Knows `unix://`, `tcp://` and `http://` hosts. */
export async function askDocker(host: string): Promise<DockerFacts | Error> {
  try {
    const [about, info] = await Promise.all([getJson(host, "/version"), getJson(host, "/info")]);
    return {
      version: text(about.Version),
      apiVersion: text(about.ApiVersion),
      liveRestore: info.LiveRestoreEnabled === true,
      hasInit: text(info.InitBinary) !== "" && record(info.InitCommit).ID !== "N/A",
      cgroupVersion: text(info.CgroupVersion),
      rootDir: text(info.DockerRootDir),
    };
  } catch (error) {
    return new Error(reasonOf(error));
  }
}

/** Bun's own text of a refused connection guesses at a typo in an address that no user typed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "no such socket";
  if (code === "ECONNREFUSED" || code === "ConnectionRefused") return "connection refused";
  if (code === "EACCES") return "permission denied";
  return error.message;
}

/** What the server of this root says of itself; undefined when none answers there. */
export async function askServer(socket: string): Promise<ServerFacts | undefined> {
  try {
    const data = record((await getJson(`unix://${socket}`, "/system")).data);
    const engine = record(data.engine);
    return {
      version: text(data.version),
      engineUp: engine.up === true,
      engineError: typeof engine.error === "string" ? engine.error : undefined,
      collectionHeld: record(data.store).collection_held === true,
      held: typeof data.held === "string" ? data.held : undefined,
      failing: Number(record(data.reconciler).failing ?? 0),
    };
  } catch {
    return undefined;
  }
}

/** The settings of the server that answers at a socket and has it as its own; undefined where none does. */
export async function askSettings(socket: string): Promise<ServeFlags | undefined> {
  try {
    const { root, prefix, engine, settings } = record((await getJson(`unix://${socket}`, "/system")).data);
    // A tunnel leads to a server of another machine: what that one uses says nothing here.
    if (realpathSync(layoutOf(text(root)).socket) !== realpathSync(socket)) return undefined;
    const list = Array.isArray(settings) ? settings.map(record) : [];
    const told = list.map(({ flag, value }) => ({ flag: text(flag), value: text(value) }));
    // Earlier versions have no list.
    const known = { root: text(root), prefix: text(prefix), dockerHost: text(record(engine).host) };
    return { ...known, ...settingFlags(told) };
  } catch {
    return undefined;
  }
}

/** What the server of this root says of its proxy; undefined when none answers there. */
export async function askIngress(socket: string): Promise<IngressFacts["proxy"]> {
  try {
    const { state, problem, image } = record(record((await getJson(`unix://${socket}`, "/ingress")).data).proxy);
    const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
    return { state: text(state), problem: textOf(problem), image: textOf(image) };
  } catch {
    return undefined;
  }
}

/** Whether anything accepts connections at `host:port`. Port 0 asks for any free one and is never taken. */
export async function isListening(address: string): Promise<boolean> {
  const { hostname, port } = destinationOf(address);
  if (port === 0) return false;
  try {
    const socket = await Bun.connect({ hostname, port, socket: { data: () => undefined } });
    socket.terminate();
    return true;
  } catch {
    return false;
  }
}

/** Whether a berth answers at `host:port`: its `/health` tells a version with a commit. */
export async function isBerth(address: string): Promise<boolean> {
  const { hostname, port } = destinationOf(address);
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  try {
    const { status, version } = await getJson(`http://${host}:${port}`, "/health");
    return status === "ok" && text(version).includes("(commit: ");
  } catch {
    return false;
  }
}

/** The wildcard addresses are not destinations; a server that listens there answers on loopback too. */
function destinationOf(address: string): { hostname: string; port: number } {
  const colon = address.lastIndexOf(":");
  const bound = address.slice(0, colon).replace(/^\[|\]$/g, "");
  const hostname = bound === "" || bound === "0.0.0.0" ? "127.0.0.1" : bound === "::" ? "::1" : bound;
  return { hostname, port: Number(address.slice(colon + 1)) };
}

/** Fails when the other side is away or answers with an error. */
export async function getJson(host: string, path: string): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(answerMs);
  const unix = /^unix:(?:\/\/)?(\/.*)$/.exec(host)?.[1];
  const base = unix === undefined ? host.replace(/^tcp:/, "http:") : "http://localhost";
  const answer = await direct(`${base}${path}`, unix === undefined ? { signal } : { signal, unix });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return record(await answer.json());
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The clock of this machine, against the time of the newest file of the server. */
export function clockFacts(database: string): ClockFacts {
  return {
    now: Date.now(),
    newestFileAt: statSync(database, { throwIfNoEntry: false })?.mtimeMs,
    synchronized: synchronized(),
  };
}

/** What systemd knows; undefined without it. */
function synchronized(): boolean | undefined {
  if (!existsSync("/run/systemd/system") || Bun.which("timedatectl") === null) return undefined;
  const run = Bun.spawnSync(["timedatectl", "show", "--property=NTPSynchronized", "--value"], { timeout: 2_000 });
  const answer = run.stdout.toString().trim();
  return answer === "yes" ? true : answer === "no" ? false : undefined;
}
