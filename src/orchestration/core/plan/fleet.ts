import type { PlanWorkload } from "./pod.ts";
import type { Member, Roster } from "./roster.ts";

/** How many replicas have to run: frozen ids hold their places, with a container or without. */
export function deploymentWanted(roster: Roster, workload: PlanWorkload): number {
  return Math.max(0, workload.replicas - roster.frozenIds.size);
}

/** Replicas of a deployment, old and new. */
export interface Fleet {
  wanted: number;
  /** Fewest ready replicas, of any version, that a step of ours may leave behind. */
  floor: number;
  /** Most replicas, of any version, that may exist. */
  ceiling: number;
  current: Member[];
  outdated: Member[];
  /** Most containers, with those that are drained and stopped beside the rollout. */
  containers: number;
  departing: number;
  /** Nothing of these runs: they neither serve nor take room. */
  wrecks: Member[];
}

export function fleetOf(roster: Roster, workload: PlanWorkload): Fleet {
  const { maxSurge, maxUnavailable } = workload.rollout;
  // With neither room above nor slack below, nothing could ever be replaced.
  const surge = maxSurge === 0 && maxUnavailable === 0 ? 1 : maxSurge;
  const count = deploymentWanted(roster, workload);
  const isWreck = ({ is }: Member) => is === "outdated-down" || is === "broken";
  const alive = roster.members.filter((member) => !isWreck(member));
  return {
    wanted: count,
    floor: Math.max(0, count - maxUnavailable),
    ceiling: count + surge,
    containers: count + surge + 1,
    departing: roster.leaving.filter(({ departing }) => departing).length,
    current: alive.filter(({ current }) => current),
    outdated: alive.filter(({ current }) => !current),
    wrecks: roster.members.filter(isWreck),
  };
}

/** Ready replicas above the floor. */
export function spareReady({ current, outdated, floor }: Fleet): number {
  return Math.max(0, [...current, ...outdated].filter(({ ready }) => ready).length - floor);
}

export function youngestFirst(a: Member, b: Member): number {
  return b.pod.createdAt - a.pod.createdAt;
}
