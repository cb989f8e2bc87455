import { Failure } from "../api/failure.ts";
import { formatKey, type ManifestKey } from "../api/manifest.ts";
import type { PodKindStatus } from "../api/orchestration/describe.ts";
import type { Context } from "./context.ts";
import { keyText } from "./key-text.ts";
import type { Target } from "./controller.ts";
import { resolvePodTarget } from "./target.ts";
import { isoTime } from "./wire.ts";

/** POST /restart: frozen replicas first, then every container anew with fresh env. */
export async function restart(context: Context, target: Target, { wait, actor }: { wait: boolean; actor: string }) {
  const { kind, scope, name } = resolvePodTarget(context.store.manifests, target);
  const key = { kind, scope, name };
  if (wait) context.engine.require();
  const id = `op-${Buffer.from(context.randomBytes(8)).toString("hex")}`;
  const { unfroze, generation } = await context.store.write((tx) => {
    const now = context.clock.now();
    const ids = tx.frozen.remove(key);
    const raised = tx.manifests.raiseGeneration(key);
    if (!wait) tx.operations.put({ id, type: "restart", ...key, generation: raised, startedAt: now });
    tx.events.append({ actor, action: "restart", ...key, detail: { unfroze: ids, generation: raised } }, now);
    return { unfroze: ids, generation: raised };
  });
  context.enqueue(key);
  if (!wait) return { ...key, unfroze, operation: id };
  await settled(context, key, generation);
  return { ...key, unfroze };
}

type Standing = { state: "running" } | { state: "succeeded" } | { state: "failed"; error: string };

/** How far a resource is on its way to a generation. */
function standing(context: Context, key: ManifestKey, generation: number): Standing {
  if (context.store.manifests.get(key) === undefined)
    return { state: "failed", error: `${formatKey(key)} was deleted` };
  const status = context.store.status.get(key) as Partial<PodKindStatus> | undefined;
  if (status === undefined || (status.observed_generation ?? 0) < generation) return { state: "running" };
  if (status.phase === "ready") return { state: "succeeded" };
  if (status.phase === "progressing") return { state: "running" };
  const why = status.last_reconcile_error ?? status.conditions?.find(({ type }) => type === "Ready")?.message;
  return { state: "failed", error: why ?? "not ready" };
}

/**
 * Resolves when the resource is ready at `generation`. Fails `conflict` with the reason when it is failing or deleted,
 * `unavailable` when the engine goes away: both may mend, and nobody should wait for that on an open connection.
 */
async function settled(context: Context, key: ManifestKey, generation: number): Promise<void> {
  for (;;) {
    const now = standing(context, key, generation);
    if (now.state === "succeeded") return;
    if (now.state === "failed") {
      throw new Failure("conflict", `${formatKey(key)} is restarting, but not getting ready: ${now.error}`);
    }
    if (!context.engine.up()) throw engineLost(context, key);
    await nextMove(context, key);
  }
}

function engineLost(context: Context, key: ManifestKey): Failure {
  const why = context.engine.error() ?? "unknown error";
  const text = `${formatKey(key)} is restarting, but the container engine cannot be reached: ${why}; the restart goes on by itself`;
  return new Failure("unavailable", text, { reason: "EngineUnavailable", retryAfterSeconds: 2 });
}

/** Not everything that ends a wait moves the resource. */
const lookAgainMs = 1_000;

async function nextMove(context: Context, key: ManifestKey): Promise<void> {
  const waiting = new AbortController();
  const leave = context.progress.moved.subscribe((text) => {
    if (text === keyText(key)) waiting.abort();
  });
  await context.clock.sleep(lookAgainMs, waiting.signal);
  leave();
}

/** GET /operations/{id}. */
export function operation(context: Context, id: string) {
  const known = context.store.operations.get(id);
  if (known === undefined) throw new Failure("not_found", `no operation "${id}"`);
  const { type, kind, scope, name, generation, startedAt } = known;
  const result = standing(context, { kind, scope, name }, generation);
  return {
    id,
    type,
    kind,
    scope,
    name,
    state: result.state,
    started_at: isoTime(startedAt),
    ...(result.state === "failed" ? { error: result.error } : {}),
  };
}
