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

/** Resolves when the resource is ready at `generation`; fails `conflict` with the reason when it is failing. */
function settled(context: Context, key: ManifestKey, generation: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const { state, ...rest } = standing(context, key, generation);
      if (state === "running") return;
      leave();
      if (state === "succeeded") return resolve();
      const error = "error" in rest ? rest.error : "not ready";
      reject(new Failure("conflict", `${formatKey(key)} is restarting, but not getting ready: ${error}`));
    };
    const leave = context.progress.moved.subscribe((text) => {
      if (text === keyText(key)) look();
    });
    look();
  });
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
