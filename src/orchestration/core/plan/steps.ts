import { containerName } from "../naming.ts";
import { isReady } from "./classify.ts";
import type { PlannedPod, PlanWorkload, Step } from "./pod.ts";
import type { Member } from "./roster.ts";

/** Removal of a replica that is not frozen. A ready one takes requests, so it is drained first. */
export function removal(pod: PlannedPod, why: string): Extract<Step, { type: "remove" }> {
  return { type: "remove", pod, why, drain: isReady(pod), forgetFrozen: false };
}

/** Removal of a frozen replica whose slot is gone; its mark goes with it. */
export function frozenRemoval(pod: PlannedPod, workload: PlanWorkload): Step {
  const why = `${wanted(workload)}, and more are frozen`;
  return { type: "remove", pod, why, drain: isReady(pod), forgetFrozen: true };
}

/** Starts for those that are down and whose back-off has passed. */
export function healing(members: readonly Member[], now: number): Step[] {
  return members
    .filter(({ pod, is }) => is === "down" && pod.startNotBefore <= now)
    .map(({ pod }) => ({ type: "start", pod, why: whyStart(pod) }));
}

/** The name that the pod's identity asks for. */
export function nameOf({ replicaId }: Pick<PlannedPod, "replicaId">, { scope, name }: PlanWorkload): string {
  return containerName(scope, name, replicaId);
}

export function wanted({ replicas }: PlanWorkload): string {
  return replicas === 1 ? "1 replica is wanted" : `${replicas} replicas are wanted`;
}

export function whyBroken(): string {
  return "the engine could not remove it and it cannot be started again";
}

function whyStart(pod: PlannedPod): string {
  if (pod.state === "created") return "it was created and never started";
  if (pod.restored) return "it was stopped for a restore";
  if (pod.oomKilled) return "it ran out of memory";
  return pod.exitCode === undefined ? "it stopped" : `it stopped with exit code ${pod.exitCode}`;
}
