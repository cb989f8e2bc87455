import { whyOutdated } from "./classify.ts";
import { type Fleet, spareReady, youngestFirst } from "./fleet.ts";
import type { CanaryPhase, PlanWorkload, Step } from "./pod.ts";
import { type Member, type Roster, touchable } from "./roster.ts";
import { healing, removal, wanted } from "./steps.ts";

interface Canary {
  roster: Roster;
  fleet: Fleet;
  workload: PlanWorkload;
  now: number;
}

/**
 * During a step all old replicas stay and are healed, so that the way back starts no container. Where old ones are lost,
 * new ones make up for them.
 */
export function canarySteps(canary: Canary, { fresh, baseHash }: Extract<CanaryPhase, { phase: "step" }>): Step[] {
  const { roster, fleet, workload, now } = canary;
  const isBase = ({ pod }: Member) => baseHash === undefined || pod.hash === baseHash;
  const fallen = fleet.wrecks.filter((member) => isBase(member) && isRevivable(member, workload));
  const base = [...fleet.outdated.filter(isBase), ...fallen];
  const needed = Math.max(Math.min(fresh, fleet.wanted), fleet.wanted - base.length);
  const surplus = [...surplusOf(fleet.current, needed), ...surplusOf(base, fleet.wanted)];
  const missing = Math.max(0, needed - fleet.current.length);
  return [
    ...roster.doubles.map((pod) => removal(pod, "another container has the same replica id")),
    ...fleet.wrecks
      .filter((member) => !fallen.includes(member))
      .map(({ pod }) => removal(pod, whyOutdated(pod, workload))),
    ...Array.from({ length: missing }, () => ({
      type: "create" as const,
      ordinal: undefined,
      why: `the canary step needs ${needed} new`,
    })),
    ...healing(
      fleet.current.filter((member) => !surplus.includes(member)),
      now,
    ),
    ...fallen
      .filter(({ pod }) => pod.startNotBefore <= now)
      .map(({ pod }) => ({ type: "start" as const, pod, why: "it stopped, and stays until the canary has passed" })),
    ...surplus.map(({ pod }) => removal(pod, wanted(workload))),
    ...strays(fleet, isBase).map(({ pod }) => removal(pod, whyOutdated(pod, workload))),
  ];
}

/** It ended, and its restart policy would have it run. */
function isRevivable({ pod }: Member, { restart }: PlanWorkload): boolean {
  return pod.state === "exited" && (restart.name === "always" || restart.name === "unless-stopped");
}

function surplusOf(members: readonly Member[], needed: number): Member[] {
  const excess = Math.max(0, members.length - needed);
  const candidates = touchable(members).sort((a, b) => Number(a.ready) - Number(b.ready) || youngestFirst(a, b));
  return candidates.slice(0, excess);
}

/** Replicas of a release that was given up before this one: they go as far as they are not needed. */
function strays(fleet: Fleet, isBase: (member: Member) => boolean): Member[] {
  const found = touchable(fleet.outdated).filter((member) => !isBase(member));
  const serving = found.filter(({ ready }) => ready);
  const spare = spareReady(fleet);
  const idle = spare >= serving.length ? found.filter(({ ready }) => !ready) : [];
  return [...idle, ...serving.slice(0, spare)];
}
