import type { PlannedPod, PlanWorkload, Step } from "./pod.ts";
import { nameOf } from "./steps.ts";

interface RenameInput {
  workload: PlanWorkload;
  /** Containers that may be renamed. */
  movable: readonly PlannedPod[];
  /** All containers: names they hold cannot be given. */
  pods: readonly PlannedPod[];
  /** Names of the replicas about to be made. */
  reserved: readonly string[];
}

/**
 * Gives containers that were renamed by hand their names back. A name that another container holds is waited for;
 * when all have to wait, those that stand on a name that another needs (two names were swapped) step aside first.
 */
export function renames({ workload, movable, pods, reserved }: RenameInput): Step[] {
  const misnamed = movable.filter((pod) => pod.containerName !== nameOf(pod, workload));
  if (misnamed.length === 0) return [];
  const held = new Set(pods.map(({ containerName }) => containerName));
  // A map, so that of two containers of one identity only one is given the name.
  const free = new Map<string, PlannedPod>();
  for (const pod of misnamed) if (!held.has(nameOf(pod, workload))) free.set(nameOf(pod, workload), pod);
  if (free.size > 0) return [...free].map(([name, pod]) => rename(pod, name));
  const needed = new Set([...reserved, ...movable.map((pod) => nameOf(pod, workload))]);
  const inTheWay = misnamed.filter(({ containerName }) => needed.has(containerName));
  return inTheWay.map((pod) => rename(pod, `${pod.containerName}.aside`));
}

function rename(pod: PlannedPod, to: string): Step {
  return { type: "rename", pod, to, why: `it was renamed to "${pod.containerName}" by hand` };
}
