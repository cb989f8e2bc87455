import { crashDueAt } from "./crash.ts";
import { deploymentSteps } from "./deployment.ts";
import { deploymentWanted } from "./fleet.ts";
import type { PlanWorkload, Step, WorkloadPlan, WorkloadPlanInput } from "./pod.ts";
import { renames } from "./rename.ts";
import { isLeftAlone, type Member, type Roster, rosterOf } from "./roster.ts";
import { nameOf, removal } from "./steps.ts";
import { statefulsetSteps, statefulsetWanted } from "./statefulset.ts";
import { waitingFor } from "./waiting.ts";

/**
 * What to do next so that the observed containers become the wanted ones. Execute the steps (in any order, at the
 * same time), observe, plan again; a settled world gives no steps.
 */
export function planWorkload(input: WorkloadPlanInput): WorkloadPlan {
  const { workload, now } = input;
  const { roster, aside } = keptAside(rosterOf(input), workload);
  const kind = kinds[workload.kind];
  const wanted = kind.wanted(roster, workload);
  const over = workload.canary?.phase === "drop" ? aside : aside.filter(({ is }) => is === "outdated-down");
  const removals = over.map(({ pod }) => removal(pod, "the release that replaced it has lasted"));
  const steps = withRenames([...kind.steps(roster, workload, now), ...removals], roster, input);
  const done = steps.length === 0 && isSettled(roster, wanted);
  const counts = countsOf(roster, workload);
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

/** Old replicas that stay aside are not part of what is wanted. */
function keptAside(roster: Roster, { canary }: PlanWorkload): { roster: Roster; aside: Member[] } {
  if (canary === undefined || canary.phase === "step") return { roster, aside: [] };
  const { baseHash } = canary;
  const isKept = ({ pod, current, is }: Member) =>
    !current && !isLeftAlone({ is }) && (baseHash === undefined || pod.hash === baseHash);
  const members = roster.members.filter((member) => !isKept(member));
  return { roster: { ...roster, members }, aside: roster.members.filter(isKept) };
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
  const replicas = roster.members.filter((member) => !isLeftAlone(member)).map(({ pod }) => pod);
  const movable = [...replicas, ...roster.frozen].filter((pod) => !taken.has(pod));
  const reserved = steps.flatMap((step) =>
    step.type === "create" && step.ordinal !== undefined ? [nameOf({ replicaId: `${step.ordinal}` }, workload)] : [],
  );
  return [...steps, ...renames({ workload, movable, pods, reserved })];
}

function isSettled({ members, leaving }: Roster, wanted: number): boolean {
  if (leaving.some(({ departing }) => departing)) return false;
  return members.length === wanted && members.every(({ current, ready }) => current && ready);
}

/** During a canary step there are more replicas than wanted, which do not count as surplus. */
function countsOf({ members, frozen, frozenIds }: Roster, { canary, replicas }: PlanWorkload): WorkloadPlan["counts"] {
  const ready = members.filter((member) => member.ready).length;
  return {
    ready: canary?.phase === "step" ? Math.min(ready, replicas) : ready,
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
function dueAt({ pod, is, ready }: Member, { rollout, canary }: PlanWorkload): number {
  if (is === "down" || (is === "outdated-down" && canary?.phase === "step")) return pod.startNotBefore;
  if (pod.watchedUntil !== undefined) return pod.watchedUntil;
  if (ready || pod.state !== "running" || pod.runningSince === undefined) return 0;
  return pod.runningSince + rollout.minReadyMs;
}
