import { leaveIngress } from "../pods/leave-ingress.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import { containerName } from "../../core/naming.ts";
import type { Context } from "../state/context.ts";
import { isMadeNow } from "./plan-now.ts";
import type { Pod } from "../state/pod.ts";

/** A stop that is not a freeze is healed, but not before the operator has had a moment. */
const unfrozenStopHealsAfterMs = 5_000;

interface Stop {
  freeze: boolean;
  graceMs: number;
  actor: string;
}

/**
 * Refuses what runs to its own end: a run, an init container, a release command. Stopping it by hand would fail what
 * waits for it, and it is never made again under its name.
 */
export function refuseOneOff({ name, key, role, replicaId }: Pod): void {
  if (role === undefined) return;
  const { kind, scope, name: resource } = key;
  const app = scope === "" ? resource : `${scope}/${resource}`;
  const begin = kind === "cronjob" ? `berth cron run ${app}` : `berth run ${app}`;
  const texts: Record<string, string> = {
    job: `belongs to the run ${replicaId} of ${formatKey(key)}; end the run with: berth cron cancel ${replicaId}, begin another with: ${begin}`,
    run: `is a command that somebody ran with berth run, and ends with it; see: berth events ${app}`,
    init: `is an init container of ${formatKey(key)}; begin it again with: berth restart ${app}`,
  };
  const other = `runs a release command of ${formatKey(key)}; begin it again with: berth release run ${app}`;
  throw new Failure("conflict", `"${name}" is neither stopped nor started by hand: it ${texts[role] ?? other}`);
}

/** A pod that would not stop is not frozen: it runs on, and changes have to reach it. */
export async function stopOurs(context: Context, pod: Pod, options: Stop): Promise<void> {
  const wasFrozen = context.store.frozen.list(pod.key).includes(pod.replicaId);
  await markStopped(context, pod, options);
  await leaveIngress(context, { id: pod.id, waitMs: options.graceMs });
  try {
    await context.engine.stop(pod, { graceMs: options.graceMs });
    // Seen as stopped before it counts as staying: in between it must not count as ready.
    await context.pods.refresh(pod.key).catch(() => undefined);
  } catch (error) {
    if (options.freeze && !wasFrozen) await context.store.write((tx) => tx.frozen.remove(pod.key, pod.replicaId));
    throw error;
  } finally {
    context.leaving.remove(pod.id);
  }
}

async function markStopped(context: Context, pod: Pod, { freeze, actor }: Stop): Promise<void> {
  const now = context.clock.now();
  if (!freeze) context.progress.holdStart(pod.id, context.clock.steady() + unfrozenStopHealsAfterMs);
  await context.store.write((tx) => {
    if (freeze && tx.manifests.get(pod.key) === undefined) {
      throw new Failure("gone", `${formatKey(pod.key)} is not stored any more, so "${pod.name}" is going anyway`);
    }
    if (freeze) tx.frozen.add(pod.key, pod.replicaId, now);
    const detail = { replica_id: pod.replicaId, freeze };
    tx.events.append({ actor, action: "pod.stop", ...pod.key, detail }, now);
  });
}

/** A frozen pod whose container somebody removed: only the mark keeps it away. */
export async function thaw(context: Context, name: string, actor: string) {
  const mark = context.store.frozen
    .all()
    .find(({ scope, name: resource, replicaId }) => containerName(scope, resource, replicaId) === name);
  if (mark === undefined) throw new Failure("not_found", `no container "${name}"`);
  const { replicaId, ...key } = mark;
  await context.store.write((tx) => {
    tx.frozen.remove(key, replicaId);
    const detail = { replica_id: replicaId, unfroze: true };
    tx.events.append({ actor, action: "pod.start", ...key, detail }, context.clock.now());
  });
  context.enqueue(key);
  // The place of an ordinal is its own, and may have to wait for others; a deployment makes another replica.
  const recreated = key.kind !== "statefulset" || isMadeNow(context, key, Number(replicaId));
  return { name, recreated, unfroze: true };
}
