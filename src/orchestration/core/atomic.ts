/** A release, as far as the fate of a resource depends on it. */
interface ReleaseSight {
  status: "pending" | "running" | "succeeded" | "failed";
  error: string | undefined;
  reasons?: readonly string[] | undefined;
}

/** One resource of an atomic apply, as it stands. */
export interface MemberSight {
  action: "created" | "updated" | "deleted" | "unchanged";
  /** A deployment or statefulset: it has to become ready. */
  runs: boolean;
  appliedRevision: number;
  /** Undefined: it is not stored. */
  storedRevision: number | undefined;
  /** The release that the apply began; undefined where it made none. */
  release: ReleaseSight | undefined;
  /** What is stored is the last good spec, which the server put back after that release had failed. */
  rolledBack: boolean;
  status: { phase: string; observedRevision: number; isNewest: boolean; reason: string } | undefined;
}

/** `left`: somebody else changed it since, so that it is theirs now. */
export type MemberFate =
  { is: "waiting" } | { is: "well" } | { is: "left"; why: string } | { is: "failed"; why: string };

/** What became of one resource since the apply. */
export function fateOf(sight: MemberSight): MemberFate {
  const { action, runs, storedRevision, appliedRevision, release, rolledBack } = sight;
  if (action === "deleted") {
    return storedRevision === undefined ? { is: "well" } : { is: "left", why: "applied again meanwhile" };
  }
  if (storedRevision === undefined) return { is: "left", why: "deleted meanwhile" };
  if (release?.status === "failed" && release.reasons?.includes("Superseded") !== true) {
    return { is: "failed", why: release.error ?? "its release failed" };
  }
  if (storedRevision !== appliedRevision && !rolledBack) return { is: "left", why: "changed meanwhile" };
  if (!runs || release?.status === "succeeded") return { is: "well" };
  return release === undefined ? fateWithoutRelease(sight) : fateOfRunning(sight);
}

/** What cannot even be planned, for want of a reference for instance, ends no release: then the status tells. */
function fateOfRunning({ status }: MemberSight): MemberFate {
  const isOver = status?.phase === "failed" && status.isNewest;
  return isOver ? { is: "failed", why: status.reason } : { is: "waiting" };
}

/** A change of the count, for instance, makes no release: then the status decides. */
function fateWithoutRelease({ status, appliedRevision }: MemberSight): MemberFate {
  if (status === undefined || status.observedRevision < appliedRevision) return { is: "waiting" };
  if (status.phase === "ready" || status.phase === "asleep") return { is: "well" };
  return status.phase === "failed" ? { is: "failed", why: status.reason } : { is: "waiting" };
}

type GroupFate = { is: "waiting" } | { is: "kept" } | { is: "failed"; ref: string; why: string };

/** One that failed takes all back; all are kept once each that is still theirs is well. */
export function groupFate(members: readonly { ref: string; fate: MemberFate }[]): GroupFate {
  for (const { ref, fate } of members)
    if (fate.is === "failed") {
      return { is: "failed", ref, why: `${ref}: ${fate.why}` };
    }
  return members.some(({ fate }) => fate.is === "waiting") ? { is: "waiting" } : { is: "kept" };
}
