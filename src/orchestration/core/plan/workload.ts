import { crashDueAt } from "./crash.ts";
import { deploymentSteps, deploymentWanted } from "./deployment.ts";
import type { PlanWorkload, Step, WorkloadPlan, WorkloadPlanInput } from "./pod.ts";
import { renames } from "./rename.ts";
import { type Member, type Roster, rosterOf } from "./roster.ts";
import { nameOf } from "./steps.ts";
import { statefulsetSteps, statefulsetWanted } from "./statefulset.ts";
import { waitingFor } from "./waiting.ts";

/**
 * What to do next so that the observed containers become the wanted ones. Execute the steps (in any order, at the
 * same time), observe, plan again; a settled world gives no steps.
 */
export function planWorkload(input: WorkloadPlanInput): WorkloadPlan {
  const { workload, now } = input;
  const roster = rosterOf(input);
  const kind = kinds[workload.kind];
  const wanted = kind.wanted(roster, workload);
  const steps = withRenames(kind.steps(roster, workload, now), roster, input);
  const done = steps.length === 0 && isSettled(roster, wanted);
  const counts = countsOf(roster);
  const waiting = done ? undefined : waitingFor({ steps, roster, workload, counts });
  return {
    steps,
    againInMs: againInMs(roster, workload, now),
    done,
    counts,
    waitingFor: waiting?.text,
    ...(waiting === undefined ? {} : { waitingDetail: waiting.detail }),
  };
}

const kinds = {
  deployment: { steps: deploymentSteps, wanted: deploymentWanted },
  statefulset: { steps: statefulsetSteps, wanted: statefulsetWanted },
};

/**
 * Containers that another step is about are left out: one step per container and plan. Frozen ones get their names
 * back too: it leaves them as stopped as they are, and another replica may need the name.
 */
function withRenames(steps: Step[], roster: Roster, { workload, pods }: WorkloadPlanInput): Step[] {
  const taken = new Set(steps.flatMap((step) => (step.type === "create" ? [] : [step.pod])));
  const replicas = roster.members.filter(({ is }) => is !== "untouchable").map(({ pod }) => pod);
  const movable = [...replicas, ...roster.frozen].filter((pod) => !taken.has(pod));
  const reserved = steps.flatMap((step) =>
    step.type === "create" && step.ordinal !== undefined ? [nameOf({ replicaId: `${step.ordinal}` }, workload)] : [],
  );
  return [...steps, ...renames({ workload, movable, pods, reserved })];
}

function isSettled({ members }: Roster, wanted: number): boolean {
  return members.length === wanted && members.every(({ current, ready }) => current && ready);
}

function countsOf({ members, frozen, frozenIds }: Roster): WorkloadPlan["counts"] {
  return {
    ready: members.filter(({ ready }) => ready).length,
    updated: members.filter(({ current }) => current).length,
    frozen: frozenIds.size,
    total: members.length + frozen.length,
  };
}

function againInMs({ members }: Roster, workload: PlanWorkload, now: number): number | undefined {
  const times = members.flatMap((member) => [dueAt(member, workload), crashDueAt(member.pod, workload.rollout)]);
  const waits = times.map((at) => at - now).filter((ms) => ms > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** When time alone changes what is known about the member; 0 when it never does. */
function dueAt({ pod, is, ready }: Member, { rollout }: PlanWorkload): number {
  if (is === "down") return pod.startNotBefore;
  if (pod.watchedUntil !== undefined) return pod.watchedUntil;
  if (ready || pod.state !== "running" || pod.runningSince === undefined) return 0;
  return pod.runningSince + rollout.minReadyMs;
}
