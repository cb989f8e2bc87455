import { PluginError } from "../kit.ts";
import { nobody } from "./note.ts";
import { type Cluster, podAt, type Status, statusOf } from "./cluster.ts";
import { ordinalOf } from "./controller.ts";

/** How a cluster really is; a command that was interrupted leaves a word in the config that nothing has become of. */
export interface Standing {
  /** What the config says. */
  intended: number;
  /** The pod that takes writes, or would if it ran; `nobody` if all follow. */
  primary: number;
  /** Whether that pod says so itself. */
  answers: boolean;
  /** Those that answer, furthest first. */
  standbys: Candidate[];
}

interface Candidate {
  ordinal: number;
  /** Position of the last change that it has; larger is newer. */
  position: bigint;
}

/** Asks every pod. Fails where two take writes: only the operator can choose between them. */
export async function standingOf(cluster: Cluster): Promise<Standing> {
  const intended = cluster.primary;
  const primaries: number[] = [];
  const standbys: Candidate[] = [];
  // At the same time: one that hangs must not make the others wait, or be out of date.
  const statuses = await Promise.all(cluster.pods.map((pod) => statusOf(cluster, pod)));
  for (const [at, pod] of cluster.pods.entries()) {
    const status = statuses[at];
    const role = status?.one("role");
    if (role === "primary") primaries.push(ordinalOf(pod));
    if (role === "standby") standbys.push({ ordinal: ordinalOf(pod), position: positionOf(status) });
  }
  if (primaries.length > 1) {
    throw new PluginError(
      `pods ${primaries.join(" and ")} both take writes; stop the one whose changes you do not want`,
    );
  }
  const primary = primaries[0] ?? silentPrimary(cluster, standbys);
  return { intended, primary, answers: primaries.length > 0, standbys: byPosition(standbys) };
}

/** The standby that has most of the history that `target` has, and how many bytes `target` lacks. */
export async function furthestOf(cluster: Cluster, target: number): Promise<{ best: number; behind: bigint }> {
  const seen = await Promise.all(
    cluster.pods.map(async (pod) => ({ ordinal: ordinalOf(pod), status: await statusOf(cluster, pod) })),
  );
  const own = seen.find(({ ordinal }) => ordinal === target)?.status;
  if (own === undefined) throw new PluginError(`pod ${target} does not answer any more; see: info`);
  const ours = seen.filter(({ status }) => {
    return status?.one("role") === "standby" && status.one("replid") === own.one("replid");
  });
  const [first] = byPosition(ours.map(({ ordinal, status }) => ({ ordinal, position: positionOf(status) })));
  const have = positionOf(own);
  if (first === undefined || first.position <= have) return { best: target, behind: 0n };
  return { best: first.ordinal, behind: first.position - have };
}

function positionOf(status: Status | undefined): bigint {
  return BigInt(status?.one("position") || "0");
}

/** Furthest first. */
function byPosition(standbys: readonly Candidate[]): Candidate[] {
  return standbys.toSorted((a, b) =>
    a.position === b.position ? a.ordinal - b.ordinal : a.position > b.position ? -1 : 1,
  );
}

/** None takes writes: the one of the config, unless that follows; then the one that was stopped for it. */
function silentPrimary(cluster: Cluster, standbys: readonly Candidate[]): number {
  const follows = (ordinal: number) => standbys.some((each) => each.ordinal === ordinal);
  if (!follows(cluster.primary)) return cluster.primary;
  const silent = cluster.pods.filter((pod) => !follows(ordinalOf(pod)));
  const stopped = silent.find(({ frozen }) => frozen) ?? silent[0];
  return stopped === undefined ? nobody : ordinalOf(stopped);
}

/**
 * The ordinal that the operator asked for, or what an interrupted command was at, or the standby that is furthest. While
 * the primary takes writes every standby is a little behind, so positions are compared later. The primary itself means
 * that there is nothing to hand over.
 */
export function chooseTarget(cluster: Cluster, standing: Standing, wanted: number | undefined): number {
  const { intended, primary, standbys } = standing;
  const [best] = standbys;
  if (wanted !== undefined) podAt(cluster, wanted);
  if (wanted === primary) return wanted;
  if (best === undefined) throw new PluginError("no standby answers, so none can become primary; see: info");
  if (wanted === undefined) return standbys.some(({ ordinal }) => ordinal === intended) ? intended : best.ordinal;
  if (!standbys.some(({ ordinal }) => ordinal === wanted)) {
    throw new PluginError(`pod ${wanted} is not a standby that answers; see: info`);
  }
  return wanted;
}
