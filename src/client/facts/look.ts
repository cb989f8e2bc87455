import { ApiError, type Client } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { keyOf } from "../../orchestration/api/manifest-key.ts";
import { formatKey, type ManifestKey, podKinds } from "../../orchestration/api/manifest.ts";
import type { Canary } from "../../orchestration/api/rollouts.ts";
import { describe } from "../../orchestration/api/describe.ts";
import { getOperation } from "../../orchestration/api/restart.ts";
import type { Look, WaitTarget } from "./wait.ts";
import type { Release } from "../../orchestration/api/releases.ts";
import { takenBackText } from "./taken-back.ts";

/** Picks the release that is waited for. */
type IsRelease = (release: Pick<Release, "id" | "revision">) => boolean;

/** Faults that end a release within a moment, with a reason of its own. */
const ending = ["CrashLoop", "OutOfMemory", "ProgressDeadline"];

/**
 * What a look means when a release is waited for: its failure is one, whatever runs now, and nothing is ready before
 * it has succeeded. `status` is the status blob, its releases newest first.
 */
function judgeRelease(look: Look, status: Record<string, unknown> | null, isIt: IsRelease): Look {
  const releases: Partial<Release>[] = Array.isArray(status?.releases) ? status.releases : [];
  const index = releases.findIndex(({ id = "", revision = -1 }) => isIt({ id, revision }));
  const release = releases[index];
  if (release === undefined) return look;
  if (release.status === "succeeded") return release.id === undefined ? look : { ...look, released: release.id };
  if (release.status === "failed") {
    const why = `release ${release.id} failed: ${release.error ?? "no reason given"}`;
    return { ...look, ...wentBack(releases[index - 1], release), state: "failed", why, detail: undefined };
  }
  if (release.status === "pending" && release.id !== undefined) {
    return { ...look, state: "pending", why: look.why || "its release commands run", releasing: release.id };
  }
  const isOver = look.state === "failed" && !ending.includes(look.reason ?? "");
  return isOver ? look : { ...look, state: "pending" };
}

/** `after`: the release that came after the failed one, if any. */
function wentBack(
  after: Partial<Release> | undefined,
  failed: Partial<Release>,
): Pick<Look, "rolledBackTo" | "takenBack"> {
  const { cause, rolled_back_from: rolledBackTo } = after ?? {};
  if (after === undefined || cause !== "auto_rollback" || rolledBackTo === undefined) return {};
  return { rolledBackTo, takenBack: takenBackText(after, failed) };
}

/** Kinds whose containers can be waited for. */
export function isPodKind(kind: string): boolean {
  return podKinds.some((known) => known === kind);
}

/** Whether a resource is as it should be. What sleeps is: the first request starts it. */
export function isWell(phase: unknown): boolean {
  return phase === "ready" || phase === "asleep";
}

interface ReadySetup {
  /** What is said about an older revision is not believed. */
  revision: number;
  /** The manifest was stored before as it is now: a failure counts only once the server has looked again. */
  unchanged: boolean;
}

/**
 * Waits until the server has acted upon a revision of a deployment or statefulset and it is ready. A release of that
 * revision that failed is a failure, although the spec that came back in its place is ready.
 */
export function readyTarget(api: Client, key: ManifestKey, { revision, unchanged }: ReadySetup): WaitTarget {
  let firstReconcile: unknown;
  let known: Pick<Look, "released"> | undefined;
  const look = async (): Promise<Look> => {
    const described = await api.call(describe, { query: keyOf(key) });
    // The release that a revision is part of is the newest one up to it: a change of the replica count mints none.
    const isIt = (release: { revision: number }) => release.revision >= 0 && release.revision <= revision;
    const seen = judgeRelease(judge(described, revision), described.status, isIt);
    const reconciled = described.status?.last_reconcile_at;
    firstReconcile ??= reconciled;
    // An apply tries again what failed before it; what an operator has stopped it leaves alone.
    const isTried = seen.state === "failed" && seen.phase !== "stopped";
    const stale = unchanged && isTried && reconciled === firstReconcile;
    known ??= seen;
    return stale ? { ...seen, state: "pending" } : withoutOld(seen, unchanged ? known.released : undefined);
  };
  return { ref: formatKey(key), look: () => missingIsGone(look) };
}

/** Leaves a release out that had succeeded before the wait: what visitors saw of it is old news. */
function withoutOld(look: Look, old: string | undefined): Look {
  if (old === undefined || look.released !== old) return look;
  const { released: _, ...rest } = look;
  return rest;
}

/** Waits until a release has put its replicas in place, and they are ready. */
export function releaseTarget(api: Client, key: ManifestKey, id: string): WaitTarget {
  return {
    ref: formatKey(key),
    look: () => missingIsGone(() => lookAtRelease(api, key, (release) => release.id === id)),
  };
}

async function lookAtRelease(api: Client, key: ManifestKey, isIt: IsRelease): Promise<Look> {
  const described = await api.call(describe, { query: keyOf(key) });
  return judgeRelease(judge(described, 0), described.status, isIt);
}

/** Waits for the end of an operation; how far it is comes from `describe`. */
export function operationTarget(api: Client, key: ManifestKey, id: string): WaitTarget {
  const look = async (): Promise<Look> => {
    const operation = await api.call(getOperation, { params: { id } });
    const seen = judge(await api.call(describe, { query: keyOf(key) }), 0);
    if (operation.state === "running") return { ...seen, state: "pending" };
    if (operation.state === "succeeded") return { ...seen, state: "ready" };
    return { ...seen, state: "failed", why: operation.error ?? seen.why };
  };
  return { ref: formatKey(key), look: () => missingIsGone(look) };
}

async function missingIsGone(look: () => Promise<Look>): Promise<Look> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return { state: "gone", phase: "", wanted: 0, ready: 0, pods: [], why: "it was deleted meanwhile" };
  }
}

/** A status that is older than `revision` says nothing about it yet. */
function judge({ status, pods }: DataOf<typeof describe>, revision: number): Look {
  const phase = textOf(status?.phase);
  const away = isEngineAway(status);
  const acted = numberOf(status?.observed_revision) >= revision && status !== null && !away;
  const look = {
    phase,
    wanted: numberOf(status?.replicas),
    ready: numberOf(status?.ready_replicas),
    ...(numberOf(status?.frozen_replicas) > 0 ? { frozen: numberOf(status?.frozen_replicas) } : {}),
    pods: pods.filter(isReplica),
    ...canaryOf(status),
    why: "",
    ...(acted || away ? causeOf(status) : {}),
  };
  if (!acted) return { ...look, state: "pending" };
  if (isWell(phase)) return { ...look, state: "ready" };
  return { ...look, state: ["stopped", "failing", "failed"].includes(phase) ? "failed" : "pending" };
}

function canaryOf(status: Record<string, unknown> | null): Pick<Look, "canary"> {
  return typeof status?.canary === "object" && status.canary !== null ? { canary: status.canary as Canary } : {};
}

/** Init and release containers are not replicas. */
export function isReplica(pod: { kind: string; role?: string }): boolean {
  return pod.role === undefined || pod.role === "" || pod.role === pod.kind;
}

/** The container of a run that has ended, kept for its output. */
export function isFinishedRun({ role, state }: { role?: string; state: string }): boolean {
  return role === "job" && state === "exited";
}

/** Without the engine the server cannot look at anything, so nothing it says of the past is the reason. */
export function isEngineAway(status: Record<string, unknown> | null): boolean {
  return conditionsOf(status).some(({ reason, status: is }) => is === true && reason === "EngineUnavailable");
}

/** Conditions by how much they explain; what merely says that work goes on needs no word for it. */
const telling = [
  { type: "Degraded", bad: true },
  { type: "Progressing", bad: true },
  { type: "Ready", bad: false },
];
const plainWords = ["Reconciling", "ReplicasNotReady"];

/** The server's reason for not being ready: a fault, the error of the last try, or what it waits for. */
export function reasonOf(status: Record<string, unknown> | null): string {
  return causeOf(status).why;
}

/** The reason with the word for it, and without the count of ready replicas. */
export function causeOf(status: Record<string, unknown> | null): Pick<Look, "why" | "detail" | "reason"> {
  const conditions = conditionsOf(status);
  for (const { type, bad } of telling) {
    const found = conditions.find((condition) => condition.type === type && condition.status === bad);
    if (found === undefined) continue;
    const [reason, message] = [textOf(found.reason), textOf(found.message)];
    if (!plainWords.includes(reason) && reason !== "") return { why: `${reason}: ${message}`, reason };
    return { why: message, ...(typeof found.detail === "string" ? { detail: found.detail } : {}) };
  }
  return { why: textOf(status?.last_reconcile_error) };
}

/** `1 frozen: berth start shop/db`, of one that is ready all the same; empty where nothing of it is frozen. */
export function frozenText({ scope = "", name }: { scope?: string; name: string }, ids: unknown): string {
  const count = Array.isArray(ids) ? ids.length : 0;
  return count === 0 ? "" : `${count} frozen: berth start ${scope}/${name}`;
}

function conditionsOf(status: Record<string, unknown> | null): Record<string, unknown>[] {
  const list: unknown = status?.conditions;
  return Array.isArray(list) ? list : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
