import { whyOutdated } from "./classify.ts";
import type { PlannedPod, PlanWorkload, Step } from "./pod.ts";
import { type Member, type Roster, touchable } from "./roster.ts";
import { frozenRemoval, healing, removal, wanted, whyBroken } from "./steps.ts";

/** Replicas of a statefulset are ordinals with volumes of their own: one is disturbed at a time, and never two. */
export function statefulsetSteps(roster: Roster, workload: PlanWorkload, now: number): Step[] {
  const kept = roster.members.filter((member) => ordinalOf(member.pod) < workload.replicas);
  const wrecks = kept.filter(({ is }) => is === "outdated-down" || is === "broken");
  const shrinking = shrink(roster, workload);
  return [
    ...roster.doubles.map((pod) => removal(pod, "another container has the same ordinal")),
    ...wrecks.map(({ pod, is }) => removal(pod, is === "broken" ? whyBroken() : whyOutdated(pod, workload))),
    ...healing(kept, now),
    ...shrinking,
    ...advance({ roster, workload, kept, shrinking: shrinking.length > 0 }),
  ];
}

/** How many ordinals have to run: all below `replicas` that are not frozen. */
export function statefulsetWanted(roster: Roster, workload: PlanWorkload): number {
  return slots(roster, workload).length;
}

/** The highest replica beyond the wanted ones; frozen ones when no other is left and more are frozen than wanted. */
function shrink(roster: Roster, workload: PlanWorkload): Step[] {
  const extras = roster.members.map(({ pod }) => pod).filter((pod) => ordinalOf(pod) >= workload.replicas);
  if (extras.length > 0) {
    const highest = touchable(roster.members)
      .filter(({ pod }) => extras.includes(pod))
      .sort((a, b) => highestFirst(a.pod, b.pod))[0];
    return highest === undefined ? [] : [removal(highest.pod, wanted(workload))];
  }
  const isSurplus = new Set(roster.frozen.map(ordinalOf)).size > workload.replicas;
  const highest = isSurplus ? [...roster.frozen].sort(highestFirst)[0] : undefined;
  return highest === undefined ? [] : [frozenRemoval(highest, workload)];
}

/**
 * The next step upwards or forwards. An ordinal that was there before and is missing is made at once, since the others
 * may wait for it. Else the lowest one that is not ready decides, since all above it may depend on it: missing, it is
 * made; outdated, it is replaced, so that a broken pod cannot block its own fix; else it is waited for. When all are
 * ready, the highest outdated one is replaced.
 */
function advance({
  roster,
  workload,
  kept,
  shrinking,
}: {
  roster: Roster;
  workload: PlanWorkload;
  kept: Member[];
  shrinking: boolean;
}): Step[] {
  // The first of an ordinal is the better one, and the last entry of a map wins.
  const byOrdinal = new Map(kept.toReversed().map((member) => [ordinalOf(member.pod), member]));
  const all = slots(roster, workload);
  const highest = Math.max(-1, ...byOrdinal.keys());
  const lost = all.filter(
    (ordinal) => !byOrdinal.has(ordinal) && (ordinal < roster.settledReplicas || ordinal < highest),
  );
  if (lost.length > 0) return lost.flatMap((ordinal) => creation(ordinal, roster));
  const unready = all.find((ordinal) => byOrdinal.get(ordinal)?.ready !== true);
  if (unready !== undefined && !byOrdinal.has(unready)) return creation(unready, roster);
  if (shrinking) return [];
  if (unready !== undefined) return replacement(byOrdinal.get(unready), "outdated-starting", workload);
  const outdated = all.findLast((ordinal) => byOrdinal.get(ordinal)?.is === "outdated-ready");
  return outdated === undefined ? [] : replacement(byOrdinal.get(outdated), "outdated-ready", workload);
}

/**
 * Nothing while a container of that ordinal is still being removed, since its name and its volume are taken, or while
 * other code recreates the ordinal.
 */
function creation(ordinal: number, { leaving, held }: Roster): Step[] {
  if (held.has(String(ordinal)) || leaving.some((pod) => pod.ordinal === ordinal)) return [];
  return [{ type: "create", ordinal, why: `ordinal ${ordinal} is missing` }];
}

function replacement(member: Member | undefined, is: Member["is"], workload: PlanWorkload): Step[] {
  return member?.is === is ? [removal(member.pod, whyOutdated(member.pod, workload))] : [];
}

/** Ordinals that have to run, ascending. */
function slots({ frozenIds }: Roster, { replicas }: PlanWorkload): number[] {
  return Array.from({ length: replicas }, (_, ordinal) => ordinal).filter((ordinal) => !frozenIds.has(String(ordinal)));
}

/** A container without an ordinal is not a replica that could be wanted: it ranks beyond all of them. */
function ordinalOf(pod: PlannedPod): number {
  return pod.ordinal ?? Number.POSITIVE_INFINITY;
}

function highestFirst(a: PlannedPod, b: PlannedPod): number {
  return ordinalOf(a) === ordinalOf(b) ? 0 : ordinalOf(b) - ordinalOf(a);
}
