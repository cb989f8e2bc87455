import type { ManifestKey } from "../../api/manifest.ts";
import type { WorkloadPlan } from "../../core/plan/pod.ts";
import { planWorkload } from "../../core/plan/workload.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Context } from "../state/context.ts";
import { heldReplicas, planTarget } from "../state/observe.ts";
import { resolveStored } from "../desired/resolve.ts";
import { memoryOf, rolloutTarget } from "./rollout.ts";
import { podsNow } from "./save-status.ts";

/** What is to be done, as far as is known of the pods. */
export function planNow(context: Context, key: ManifestKey, workload: ResolvedWorkload): WorkloadPlan {
  const now = context.clock.steady();
  const pods = podsNow(context, key, workload);
  const { goodReplicas: settledReplicas } = memoryOf(context, key);
  const frozenIds = context.store.frozen.list(key);
  const target = { ...planTarget(workload), canary: context.canaries.phaseOf(workload) };
  const held = heldReplicas(context, key);
  return planWorkload({ workload: target, pods, frozenIds, held, settledReplicas, now });
}

/** Whether an ordinal that is missing is made now, and does not wait for others. */
export function isMadeNow(context: Context, key: ManifestKey, ordinal: number): boolean {
  const manifest = context.store.manifests.get(key);
  const target = manifest && rolloutTarget(context, manifest);
  if (target === undefined) return false;
  const { steps } = planNow(context, key, resolveStored(context, target).workload);
  return steps.some((step) => step.type === "create" && step.ordinal === ordinal);
}
