import type { PodClass } from "./classify.ts";
import { hindranceOf } from "./crash.ts";
import type { PlannedPod, PlanWorkload, Step, WorkloadPlan } from "./pod.ts";
import type { Roster } from "./roster.ts";
import { nameOf } from "./steps.ts";

interface Unsettled {
  steps: readonly Step[];
  roster: Roster;
  workload: PlanWorkload;
  counts: WorkloadPlan["counts"];
}

const namesShown = 3;

/**
 * What an unsettled workload waits for, in one sentence: the count of ready replicas, then the detail. Says nothing that
 * changes by time alone.
 */
export function waitingFor(state: Unsettled): { text: string; detail: string } {
  const { workload, counts } = state;
  const why = reasons(state);
  const split = oldAndNew(state);
  if (split !== undefined) {
    const text = [[split, ...frozenCount(state)].join(", "), ...why].join("; ");
    return { text, detail: text };
  }
  const count = `${Math.min(counts.ready, workload.replicas)} of ${workload.replicas} replicas ready`;
  const others = otherCounts(state);
  return {
    text: [[count, ...others].join(", "), ...why].join("; "),
    detail: [...(others.length === 0 ? [] : [others.join(", ")]), ...why].join("; "),
  };
}

/** While new replicas do not come up, who serves: the count of all that are ready would hide it. */
function oldAndNew({ roster: { members }, workload: { replicas } }: Unsettled): string | undefined {
  const old = members.filter(({ current, ready }) => !current && ready).length;
  const isRising = members.some(({ pod, current, ready }) => current && !ready && pod.watchedUntil === undefined);
  if (old === 0 || !isRising) return undefined;
  const fresh = members.filter(({ current, ready }) => current && ready).length;
  return `${fresh} of ${replicas} new replicas ready, ${old === 1 ? "1 old one serves" : `${old} old ones serve`}`;
}

function otherCounts(state: Unsettled): string[] {
  const { roster, workload, counts } = state;
  const isRolling = roster.members.some(({ current }) => !current);
  return [...(isRolling ? [`${Math.min(counts.updated, workload.replicas)} updated`] : []), ...frozenCount(state)];
}

function frozenCount({ counts: { frozen } }: Unsettled): string[] {
  return frozen > 0 ? [`${frozen} frozen`] : [];
}

function reasons({ steps, roster, workload }: Unsettled): string[] {
  const moving = new Set(steps.flatMap((step) => (step.type === "create" ? [] : [step.pod])));
  const still = (...classes: PodClass[]) =>
    roster.members.filter(({ pod, is }) => classes.includes(is) && !moving.has(pod)).map(({ pod }) => pod);
  const of = (type: "start" | "remove" | "rename") => steps.flatMap((step) => (step.type === type ? [step.pod] : []));
  const say = (before: string, pods: readonly PlannedPod[], after = "") =>
    pods.length === 0 ? [] : [`${before}${listed(pods, workload)}${after}`];
  // One is reported in full: the others mostly suffer from the same.
  const hindered = still("starting").find((pod) => pod.watchedUntil === undefined && hindranceOf(pod) !== undefined);
  const rising = still("starting", "outdated-starting");
  const watched = rising.filter(({ watchedUntil }) => watchedUntil !== undefined);
  const canary = workload.canary?.phase === "step" ? [workload.canary.text] : [];
  const creating = steps.filter(({ type }) => type === "create").length;
  return [
    ...canary,
    ...still("untouchable").map((pod) => `${nameOf(pod, workload)} is ${untouched(pod)} and left alone`),
    ...heldNow(roster).map(([replicaId, why]) => `${nameOf({ replicaId }, workload)} is ${why}`),
    ...say("", still("ended"), ` ended and restart policy "${workload.restart.name}" leaves it so`),
    ...say("", still("down"), " stopped and starts again after a pause"),
    ...(hindered === undefined ? [] : [`${nameOf(hindered, workload)} ${hindranceOf(hindered)}`]),
    ...say(
      "waiting for ",
      rising.filter((pod) => pod !== hindered && !watched.includes(pod)),
    ),
    ...say("watching the requests of ", watched),
    ...say(
      "draining and stopping ",
      roster.leaving.filter(({ departing }) => departing),
    ),
    ...say(
      "waiting for the engine to remove ",
      roster.leaving.filter(({ departing }) => !departing),
    ),
    ...(creating === 0 ? [] : [`creating ${creating}`]),
    ...say("starting ", of("start")),
    ...say("removing ", of("remove")),
    ...say("renaming ", of("rename")),
  ];
}

/** Those with a frozen mark stay frozen, no matter what holds them. */
function heldNow({ held, frozenIds }: Roster): [string, string][] {
  return [...held].filter(([id]) => !frozenIds.has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
}

function untouched(pod: PlannedPod): string {
  return pod.state === "paused" ? "paused" : "in an unknown state";
}

function listed(pods: readonly PlannedPod[], workload: PlanWorkload): string {
  const names = pods.map((pod) => nameOf(pod, workload)).sort();
  const more = names.length - namesShown;
  return more > 0 ? `${names.slice(0, namesShown).join(", ")} and ${more} more` : names.join(", ");
}
