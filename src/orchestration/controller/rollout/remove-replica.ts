import type { ManifestKey } from "../../api/manifest.ts";
import type { Step } from "../../core/plan/pod.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import { wakingOf } from "../desired/woken.ts";
import { drain } from "../pods/drain.ts";
import { leaveIngress } from "../pods/leave-ingress.ts";
import type { Context } from "../state/context.ts";
import { note } from "./note-replica.ts";

/** Requests of visitors are waited for this long where nothing else is drained, as in a statefulset. */
const undrainedWaitMs = 5_000;

interface Removal {
  key: ManifestKey;
  workload: ResolvedWorkload;
  step: Extract<Step, { type: "remove" }>;
}

export async function remove(context: Context, { key, workload, step }: Removal): Promise<void> {
  const { pod, why } = step;
  const seen = context.pods.byId(pod.id);
  const unwell = pod.restarts > 0 || pod.oomKilled || (pod.state !== "running" && pod.state !== "created");
  if (seen !== undefined && unwell && !seen.restored) await context.deaths.record(seen, why);
  const { drainMs } = workload.rollout;
  const waking = wakingOf(context, key);
  const giveUp = waking === undefined ? context.closing : AbortSignal.any([context.closing, waking.signal]);
  await leaveIngress(context, { id: pod.id, waitMs: drainMs > 0 ? drainMs : undrainedWaitMs, giveUp });
  const isDrained = !step.drain || seen?.state !== "running" || (await drain(context, seen, { drainMs, giveUp }));
  waking?.leave();
  if (waking?.signal.aborted) return context.leaving.remove(pod.id);
  if (!isDrained) return;
  try {
    if (pod.state === "running" || pod.state === "restarting" || pod.state === "paused") {
      await context.engine.stop(pod, { graceMs: workload.container.stopGraceMs });
    }
    await context.engine.remove(pod);
  } catch (error) {
    // It stays for now, and by the next try it may be wanted again.
    context.leaving.remove(pod.id);
    throw error;
  }
  if (step.forgetFrozen) await context.store.write((tx) => tx.frozen.remove(key, pod.replicaId));
  await note(context, key, { action: "replica.remove", replica: pod.replicaId, why });
}
