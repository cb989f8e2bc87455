import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { type Call, PluginError } from "../kit.ts";
import { type Reference, referenceText, wholeNumber } from "./arguments.ts";
import { type Controller, controllerOf, ordinalOf } from "./controller.ts";
import type { ExecOutcome } from "./exec.ts";

/** How a plugin keeps its cluster: the names of what it put into the block's config and pods. */
export interface ClusterKind {
  /** For texts: `postgres`. */
  what: string;
  /** Config key with the ordinal of the primary. */
  primaryKey: string;
  /** Config key with the number of the last promotion. */
  epochKey: string;
  /** Config key with the note of a promotion that is under way. */
  noteKey: string;
  /** The command that makes another pod primary. */
  promote: string;
  /** Script in the pods that the tools are in. */
  script: string;
  /** Variable that every pod of the kind has in its manifest. */
  mark: string;
  /**
   * How long a standby may take to follow a new primary before it is recreated: it has changes that the new one does not
   * have. Undefined where the server takes such changes back by itself.
   */
  apartAfterMs?: number;
}

/** A block that runs, as the server knows it now. */
export interface Cluster {
  kind: ClusterKind;
  of: Reference;
  controller: Controller;
  config: Record<string, string>;
  /** Environment of the pods, as the block was expanded. */
  env: Record<string, string>;
  pods: PodRecord[];
  /** As the block has it, whatever runs. */
  replicas: number;
  primary: number;
  epoch: number;
  progress: (text: string) => void;
}

/** What the address of a server follows from. */
export type UrlParts = Pick<Cluster, "of" | "primary" | "config" | "env">;

/** Fails when there is no such block, or a statefulset that is none. */
export async function loadCluster(call: Call, of: Reference, kind: ClusterKind): Promise<Cluster> {
  const controller = controllerOf(call);
  const spec = await controller.spec(of);
  const env = textsOf(spec?.env);
  if (spec === undefined) throw new PluginError(`no ${kind.what} ${referenceText(of)}; apply its block first`);
  if (env[kind.mark] === undefined)
    throw new PluginError(`${referenceText(of)} is a statefulset, but no ${kind.what} block`);
  const [config, pods] = await Promise.all([controller.config(of), controller.pods(of)]);
  const primary = Number(config[kind.primaryKey] ?? "0");
  const epoch = Number(config[kind.epochKey] ?? "1");
  const replicas = Number(spec.replicas ?? 1);
  return { kind, of, controller, config, env, pods, replicas, primary, epoch, progress: call.progress };
}

/** Name of a pod, whether or not its container exists (docs/contract/orchestration.md, 2.2). */
export function podName({ scope, name }: Reference, ordinal: number): string {
  return `${scope}-${name}.${ordinal}`;
}

export function podAt(cluster: Cluster, ordinal: number): PodRecord {
  const pod = cluster.pods.find((each) => ordinalOf(each) === ordinal);
  if (pod !== undefined) return pod;
  const known = cluster.pods.map(ordinalOf).join(", ");
  throw new PluginError(`${referenceText(cluster.of)} has no pod ${ordinal}; it has ${known === "" ? "none" : known}`);
}

/** The pod of `--replica`, else the primary. */
export function askedPod(cluster: Cluster, replica: string | undefined): PodRecord {
  const ordinal = wholeNumber(replica, "replica");
  return ordinal === undefined ? primaryPod(cluster) : podAt(cluster, ordinal);
}

/** The pod that takes writes; fails when it does not run. */
export function primaryPod(cluster: Cluster): PodRecord {
  const pod = podAt(cluster, cluster.primary);
  if (pod.running) return pod;
  throw new PluginError(`pod ${cluster.primary} is primary and does not run; start it, or promote another one`);
}

export interface ToolCall {
  pod: PodRecord;
  args: readonly string[];
  stdin?: string | Uint8Array;
  timeoutMs?: number;
  /** Reports the output of the tool as it comes. */
  loud?: boolean;
}

const toolMs = 60_000;

/** Runs a tool of the script in a pod, whatever its exit code. */
export function tryTool(
  cluster: Cluster,
  { pod, args, stdin, timeoutMs = toolMs, loud = false }: ToolCall,
): Promise<ExecOutcome> {
  return cluster.controller.exec({
    pod: pod.name,
    command: ["sh", cluster.kind.script, ...args],
    timeoutMs,
    ...(stdin === undefined ? {} : { stdin }),
    ...(loud ? { progress: cluster.progress } : {}),
  });
}

/** Like `tryTool`; fails with the tool's own last words. */
export async function tool(cluster: Cluster, call: ToolCall): Promise<string> {
  return outputOf(call, await tryTool(cluster, call));
}

/** What it printed; fails with the tool's own last words. */
export function outputOf(call: ToolCall, { exitCode, stdout, stderr }: ExecOutcome): string {
  if (exitCode === 0) return stdout.trimEnd();
  const said = stderr.trim().split("\n").slice(-5).join("\n") || stdout.trim().slice(-500) || `exit code ${exitCode}`;
  throw new PluginError(`${call.args[0]} in ${call.pod.name}: ${said}`);
}

/** Lines `key=value` of a status tool; a key may come several times. */
export interface Status {
  /** The first value; empty when there is none. */
  one(key: string): string;
  all(key: string): string[];
}

export function readStatus(text: string): Status {
  const rows = text.split("\n").map((line): [string, string] => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  const all = (key: string) => rows.filter(([name]) => name === key).map(([, value]) => value);
  return { all, one: (key) => all(key)[0] ?? "" };
}

/** Status of a pod; undefined where it cannot be asked. */
export async function statusOf(cluster: Cluster, pod: PodRecord): Promise<Status | undefined> {
  if (!pod.running) return undefined;
  try {
    const status = readStatus(await tool(cluster, { pod, args: ["status"], timeoutMs: 15_000 }));
    return saysItsRole(status) ? status : undefined;
  } catch (error) {
    cluster.progress(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Scripts of older blocks say "standby" of a server that does not answer, and then no position. */
function saysItsRole(status: Status): boolean {
  const role = status.one("role");
  return role === "primary" || (role === "standby" && status.one("position") !== "");
}

/** Asks again every half second until it is so; fails after the limit. */
export async function until(what: string, limitMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > end)
      throw new PluginError(`${what} took longer than ${Math.round(limitMs / 1000)} seconds`);
    await Bun.sleep(500);
  }
}

/** Reads pods and config again, and finds the primary by them. */
export async function refresh(cluster: Cluster): Promise<void> {
  cluster.pods = await cluster.controller.pods(cluster.of);
  cluster.config = await cluster.controller.config(cluster.of);
  cluster.primary = Number(cluster.config[cluster.kind.primaryKey] ?? "0");
  cluster.epoch = Number(cluster.config[cluster.kind.epochKey] ?? "1");
}

function textsOf(value: unknown): Record<string, string> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]));
}
