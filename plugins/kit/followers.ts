import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { type Cluster, statusOf, tool, until } from "./cluster.ts";
import { ordinalOf } from "./controller.ts";

/** Tells every other standby which pod to follow. A standby that cannot be reached learns it when it is recreated. */
export async function followers(cluster: Cluster, old: number): Promise<void> {
  for (const pod of cluster.pods) {
    const ordinal = ordinalOf(pod);
    if (ordinal === cluster.primary || ordinal === old || !pod.running) continue;
    try {
      await tool(cluster, { pod, args: ["follow", String(cluster.epoch), String(cluster.primary)] });
      await reunite(cluster, pod);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      cluster.progress(`pod ${ordinal} does not follow yet, bring it back with: rejoin --replica ${ordinal} (${why})`);
    }
  }
}

/** One that is apart streams for a moment each time it connects, until it sees that it cannot go on from there. */
const steadyLooks = 5;

/** A standby that was ahead of the new primary cannot follow as it is. Recreating it discards the extra changes. */
async function reunite(cluster: Cluster, pod: PodRecord): Promise<void> {
  const { apartAfterMs } = cluster.kind;
  if (apartAfterMs === undefined) return;
  let looks = 0;
  const follows = async () => {
    const isStreaming = (await statusOf(cluster, pod))?.one("streaming") === "t";
    looks = isStreaming ? looks + 1 : 0;
    return looks >= steadyLooks;
  };
  try {
    await until(`pod ${ordinalOf(pod)} following`, apartAfterMs, follows);
  } catch {
    cluster.progress(
      `pod ${ordinalOf(pod)} has changes that pod ${cluster.primary} does not have; they are taken back`,
    );
    await cluster.controller.start(pod.name);
  }
}
