import { ordinalOf } from "./controller.ts";
import { type Cluster, podName, tryTool, until } from "./cluster.ts";

/** Longest wait for a primary to write out what it has and end. */
const stopMs = 180_000;

/** A container that is gone may be on its way back; after this long it is not. */
const goneMs = 20_000;

/** Looks in a row that must find the pod down: the server may just have been recreating it. */
const looksDown = 2;

/** How long a stop may take before the signal is sent once more. */
const haltAgainMs = 5_000;

/**
 * Stops a pod and keeps it stopped, also through a restart of the server. A pod without a container cannot be marked as
 * stopped: `beforeGone` runs first then, and has to see to it that the pod comes back as a follower.
 */
export async function fence(cluster: Cluster, ordinal: number, beforeGone: () => Promise<void>): Promise<void> {
  const name = podName(cluster.of, ordinal);
  let goneSince: number | undefined;
  let looks = 0;
  await until(`stopping pod ${ordinal}`, stopMs, async () => {
    const found = await stopped(cluster, name);
    cluster.pods = await cluster.controller.pods(cluster.of);
    const pod = cluster.pods.find((each) => each.name === name);
    if (found || pod !== undefined) {
      goneSince = undefined;
      looks = pod !== undefined && !pod.running && pod.frozen ? looks + 1 : 0;
      return looks >= looksDown;
    }
    looks = 0;
    if (goneSince === undefined) await beforeGone();
    goneSince ??= performance.now();
    return performance.now() - goneSince > goneMs;
  });
}

/** Whether the pod is still down, asked right before another one takes over. */
export async function isDown(cluster: Cluster, ordinal: number): Promise<boolean> {
  cluster.pods = await cluster.controller.pods(cluster.of);
  return !cluster.pods.some((pod) => ordinalOf(pod) === ordinal && pod.running);
}

/** The call waits until the pod is down. A container that has just begun to start may not hear the first signal. */
async function stopped(cluster: Cluster, name: string): Promise<boolean> {
  const again = setInterval(() => {
    const pod = cluster.pods.find((each) => each.name === name);
    if (pod !== undefined) void tryTool(cluster, { pod, args: ["halt"] }).catch(() => undefined);
  }, haltAgainMs);
  try {
    return await cluster.controller.freeze(name);
  } finally {
    clearInterval(again);
  }
}
