import { classify, isCurrent, isReady, type PodClass } from "./classify.ts";
import type { PlannedPod, WorkloadPlanInput } from "./pod.ts";

/** A replica in service or on its way there: one per identity, frozen ones aside. */
export interface Member {
  pod: PlannedPod;
  is: PodClass;
  current: boolean;
  ready: boolean;
}

/** The observed containers sorted by what may be done with them. */
export interface Roster {
  members: Member[];
  /** Further containers of an identity that `members` already has. */
  doubles: PlannedPod[];
  /** Containers that the engine is removing. */
  leaving: PlannedPod[];
  frozen: PlannedPod[];
  /** Every frozen id, those without a container too. */
  frozenIds: Set<string>;
  /** Every held id, those without a container too, and why. */
  held: ReadonlyMap<string, string>;
  /** See `WorkloadPlanInput`. */
  settledReplicas: number;
}

export function rosterOf(input: WorkloadPlanInput): Roster {
  const { workload, pods, frozenIds, settledReplicas = 0 } = input;
  const ids = new Set([...frozenIds, ...pods.filter(({ frozen }) => frozen).map(({ replicaId }) => replicaId)]);
  const held = new Map(input.held ?? []);
  for (const pod of pods) if (pod.held !== undefined) held.set(pod.replicaId, pod.held);
  const classed = pods.map((pod) => ({ pod, is: classify(pod, workload, ids) }));
  const of = (wanted: PodClass) => classed.filter(({ is }) => is === wanted).map(({ pod }) => pod);
  const candidates = classed
    .filter(({ is }) => is !== "foreign" && is !== "leaving" && is !== "frozen")
    .map(({ pod, is }) => ({ pod, is, current: isCurrent(pod, workload), ready: isReady(pod) }));
  const { kept, doubles } = oneEach(candidates);
  return {
    members: kept,
    doubles,
    leaving: of("leaving"),
    frozen: of("frozen"),
    frozenIds: ids,
    held,
    settledReplicas,
  };
}

/** Without those that are left alone: paused, held, or in an unknown state. */
export function touchable(members: readonly Member[]): Member[] {
  return members.filter((member) => !isLeftAlone(member));
}

export function isLeftAlone({ is }: Pick<Member, "is">): boolean {
  return is === "untouchable" || is === "held";
}

/** Paused, unknown and held containers do not count as doubles: they are left alone like all of their kind. */
function oneEach(candidates: Member[]): { kept: Member[]; doubles: PlannedPod[] } {
  const seen = new Set<string>();
  const kept: Member[] = [];
  const doubles: PlannedPod[] = [];
  for (const member of [...candidates].sort(betterFirst)) {
    const identity = slotOf(member.pod);
    if (seen.has(identity) && !isLeftAlone(member)) doubles.push(member.pod);
    else kept.push(member);
    seen.add(identity);
  }
  return { kept, doubles };
}

/** Current before outdated, ready before not, running before stopped, then the oldest. */
function betterFirst(a: Member, b: Member): number {
  return (
    Number(b.current) - Number(a.current) ||
    Number(b.ready) - Number(a.ready) ||
    Number(isUp(b)) - Number(isUp(a)) ||
    a.pod.createdAt - b.pod.createdAt ||
    (a.pod.id < b.pod.id ? -1 : 1)
  );
}

function isUp(member: Member): boolean {
  return member.is === "starting" || member.is === "outdated-starting" || isLeftAlone(member);
}

function slotOf(pod: PlannedPod): string {
  return pod.ordinal === undefined ? `id ${pod.replicaId}` : `ordinal ${pod.ordinal}`;
}
