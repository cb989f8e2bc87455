import { canarySteps } from "./canary-steps.ts";
import { whyOutdated } from "./classify.ts";
import { type Fleet, fleetOf, spareReady, youngestFirst } from "./fleet.ts";
import type { PlanWorkload, Step } from "./pod.ts";
import { type Member, type Roster, touchable } from "./roster.ts";
import { frozenRemoval, healing, removal, wanted, whyBroken } from "./steps.ts";

/** Replicas of a deployment are interchangeable: a frozen id takes one away from the count and no place in particular. */
export function deploymentSteps(roster: Roster, workload: PlanWorkload, now: number): Step[] {
  const fleet = fleetOf(roster, workload);
  if (workload.canary?.phase === "step") return canarySteps({ roster, fleet, workload, now }, workload.canary);
  const stopFirst = workload.rollout.strategy === "recreate" && roster.members.some(({ current }) => !current);
  return [
    ...roster.doubles.map((pod) => removal(pod, "another container has the same replica id")),
    ...fleet.wrecks.map(({ pod, is }) => removal(pod, is === "broken" ? whyBroken() : whyOutdated(pod, workload))),
    ...(stopFirst
      ? retire(isPausedBy(fleet) ? [] : touchable(fleet.outdated), workload)
      : rolling(fleet, workload, now)),
    ...frozenSurplus(roster, workload),
  ];
}

/** While a replica is held, it is not known whether it will serve: no old one goes for its sake. */
function isPausedBy({ wanted: count, current, outdated }: Fleet): boolean {
  return count > 0 && [...current, ...outdated].some(({ is }) => is === "held");
}

function rolling(fleet: Fleet, workload: PlanWorkload, now: number): Step[] {
  const leaving = new Set(fleet.outdated.length > 0 && !isPausedBy(fleet) ? replaceable(fleet) : []);
  const surplus = surplusCurrent(fleet, spareReady(fleet) - [...leaving].filter(({ ready }) => ready).length);
  const staying = fleet.current.filter((member) => !surplus.includes(member));
  return [
    ...creations(fleet, workload),
    ...healing(staying, now),
    ...retire([...leaving], workload, overlaps(fleet, workload)),
    ...surplus.map(({ pod }) => removal(pod, wanted(workload))),
  ];
}

function creations(fleet: Fleet, workload: PlanWorkload): Step[] {
  const missing = fleet.wanted - fleet.current.length;
  const alive = fleet.current.length + fleet.outdated.length;
  // Departing replicas may be of an earlier spec with the same port or volume.
  if (fleet.departing > 0 && !overlaps(fleet, workload)) return [];
  const room = Math.min(fleet.ceiling - alive, fleet.containers - alive - fleet.departing);
  const why =
    fleet.outdated.length + fleet.wrecks.length > 0
      ? "an outdated replica is to be replaced"
      : `${wanted(workload)}, ${fleet.current.length} exist`;
  const count = Math.max(0, Math.min(missing, room));
  return Array.from({ length: count }, () => ({ type: "create", ordinal: undefined, why }));
}

/**
 * The outdated replicas that may go now. One that is not ready does not count as capacity, but it may be about to become some
 * (after a reboot all are like that): it goes only when those that stay would still make up the floor, or when there
 * are more than may exist.
 */
function replaceable(fleet: Fleet): Member[] {
  const outdated = touchable(fleet.outdated).sort(youngestFirst);
  const total = fleet.current.length + fleet.outdated.length;
  const pending = fleet.current.filter(({ ready }) => !ready).length;
  const excess = Math.max(total - fleet.floor - pending, total - fleet.ceiling);
  const idle = outdated.filter(({ ready }) => !ready);
  const serving = outdated.filter(({ ready }) => ready);
  return [...idle.slice(0, Math.max(0, excess)), ...serving.slice(0, spareReady(fleet))];
}

/** Scale down among current replicas: not ready ones first, then the youngest; of the ready ones at most `spare`. */
function surplusCurrent(fleet: Fleet, spare: number): Member[] {
  const excess = Math.max(0, fleet.current.length - fleet.wanted);
  const candidates = touchable(fleet.current).sort((a, b) => Number(a.ready) - Number(b.ready) || youngestFirst(a, b));
  const idle = candidates.filter(({ ready }) => !ready);
  return candidates.slice(0, Math.min(excess, idle.length + Math.max(0, spare)));
}

/** Frozen replicas go last: only when nothing else is left to take away. */
function frozenSurplus(roster: Roster, workload: PlanWorkload): Step[] {
  if (roster.members.length + roster.doubles.length > 0) return [];
  const oldestFirst = [...roster.frozen].sort((a, b) => a.createdAt - b.createdAt);
  const kept = [...new Set(oldestFirst.map(({ replicaId }) => replicaId))].slice(0, workload.replicas);
  const surplus = oldestFirst.filter(({ replicaId }) => !kept.includes(replicaId));
  return surplus.map((pod) => frozenRemoval(pod, workload));
}

/** A workload that allows no replica above the count has no room for one that is still being stopped. */
function overlaps(fleet: Fleet, { rollout, holdsPorts }: PlanWorkload): boolean {
  return fleet.wanted > 0 && rollout.strategy === "rolling" && rollout.maxSurge > 0 && holdsPorts !== true;
}

function retire(members: readonly Member[], workload: PlanWorkload, beside = false): Step[] {
  return members.map(({ pod }) => ({
    ...removal(pod, whyOutdated(pod, workload)),
    ...(beside ? { beside: true as const } : {}),
  }));
}
