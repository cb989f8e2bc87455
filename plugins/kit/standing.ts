import { PluginError } from "../kit.ts";
import { type Cluster, podAt, statusOf } from "./cluster.ts";
import { ordinalOf } from "./controller.ts";
import { nobody } from "./handover.ts";

/** How a cluster really is; a command that was interrupted leaves a word in the config that nothing has become of. */
export interface Standing {
  /** What the config says. */
  intended: number;
  /** The pod that takes writes, or would if it ran; `nobody` where all follow. */
  primary: number;
  /** Those that answer, furthest first. */
  standbys: Candidate[];
}

interface Candidate {
  ordinal: number;
  /** Of the last change it has; larger is newer. */
  position: bigint;
}

/** Asks every pod. Fails where two take writes: nobody can choose for the operator then. */
export async function standingOf(cluster: Cluster): Promise<Standing> {
  const intended = cluster.primary;
  const primaries: number[] = [];
  const standbys: Candidate[] = [];
  for (const pod of cluster.pods) {
    const status = await statusOf(cluster, pod);
    const role = status?.one("role");
    if (role === "primary") primaries.push(ordinalOf(pod));
    if (role === "standby")
      standbys.push({ ordinal: ordinalOf(pod), position: BigInt(status?.one("position") || "0") });
  }
  if (primaries.length > 1) {
    throw new PluginError(
      `pods ${primaries.join(" and ")} both take writes; stop the one whose changes you do not want`,
    );
  }
  standbys.sort((a, b) => (a.position === b.position ? a.ordinal - b.ordinal : a.position > b.position ? -1 : 1));
  const primary = primaries[0] ?? silentPrimary(cluster, standbys);
  return { intended, primary, standbys };
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
 * The ordinal that the operator asked for, or what an interrupted command was at, or the standby that is furthest.
 * Without force never one that is behind. The primary itself means that there is nothing to hand over.
 */
export function chooseTarget(
  cluster: Cluster,
  standing: Standing,
  options: { wanted: number | undefined; force: boolean },
) {
  const { wanted, force } = options;
  const { intended, primary, standbys } = standing;
  const [best] = standbys;
  if (wanted !== undefined) podAt(cluster, wanted);
  if (wanted === primary) return wanted;
  if (best === undefined) throw new PluginError("no standby answers, so none can become primary; see: info");
  if (wanted === undefined) return standbys.some(({ ordinal }) => ordinal === intended) ? intended : best.ordinal;
  const chosen = standbys.find(({ ordinal }) => ordinal === wanted);
  if (chosen === undefined) throw new PluginError(`pod ${wanted} is not a standby that answers; see: info`);
  if (chosen.position < best.position && !force) {
    const bytes = best.position - chosen.position;
    throw new PluginError(
      `pod ${best.ordinal} has ${bytes} bytes more than pod ${wanted}; choose it, or lose them with --force`,
    );
  }
  return wanted;
}
