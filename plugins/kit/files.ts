import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import type { Call } from "../kit.ts";
import { controllerOf } from "./controller.ts";

/** Where a file of a pod's volume lies on the machine of the server; undefined when it is in no volume. */
export async function fileOfPod(call: Call, pod: PodRecord, path: string): Promise<string | undefined> {
  const mounts = await controllerOf(call).mounts(pod.name);
  const mount = mounts.find(({ destination }) => path.startsWith(`${destination}/`));
  if (mount?.host_path === undefined) return undefined;
  return `${mount.host_path}${path.slice(mount.destination.length)}`;
}
