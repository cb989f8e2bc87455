import { PluginError } from "../kit.ts";
import type { PodRecord } from "../../src/api/orchestration/pods.ts";
import { referenceText } from "./arguments.ts";
import { type Cluster, podAt, podName, refresh, statusOf, tool, tryTool, until } from "./cluster.ts";
import { ordinalOf } from "./controller.ts";

/** The steps of a promotion that differ between servers. */
export interface Handover {
  target: number;
  /** While the old primary still runs and will be stopped cleanly: last chance to bring everything over. */
  beforeStop?: () => Promise<void>;
  /** The old primary is down: brings the target to the end of what it has. */
  beforePromote?: () => Promise<void>;
  /** Limit of the tool `promote` in the target. */
  promoteMs: number;
}

/**
 * Makes another pod primary. The word of it goes into the config first, so that an old primary whose container is made
 * anew comes up as a follower; then the old one is frozen, and only when it is down does the new one take writes.
 */
export async function handOver(cluster: Cluster, handover: Handover): Promise<void> {
  await exclusively(cluster, podAt(cluster, handover.target), () => changePlaces(cluster, handover));
}

/** A third of the time that the tool `lock` lets pass. */
const lockRenewalMs = 40_000;

/**
 * Two commands that decide about one cluster at the same time would make two primaries. What was read before counts
 * only when nobody has decided meanwhile.
 */
export async function exclusively(cluster: Cluster, pod: PodRecord, work: () => Promise<void>): Promise<void> {
  const token = crypto.randomUUID();
  const lock = () => tool(cluster, { pod, args: ["lock", token] });
  await lock();
  // A lock that is not renewed belongs to a command that was killed, and stands in nobody's way for long.
  const renewing = setInterval(() => void lock().catch(() => undefined), lockRenewalMs);
  try {
    const { kind, of, controller, epoch } = cluster;
    const now = await controller.config(of);
    if (Number(now[kind.epochKey] ?? "1") !== epoch) {
      throw new PluginError("another command has just changed this cluster; see: info, and try again");
    }
    await work();
  } finally {
    clearInterval(renewing);
    // A lock that stays goes by itself; the outcome counts more.
    await tryTool(cluster, { pod, args: ["unlock", token] }).catch(() => undefined);
  }
}

async function changePlaces(cluster: Cluster, { target, ...steps }: Handover): Promise<void> {
  const old = cluster.primary;
  const epoch = cluster.epoch + 1;
  const targetPod = podAt(cluster, target);
  await writePlace(cluster, target, epoch);
  try {
    if (old !== nobody) {
      await steps.beforeStop?.();
      cluster.progress(`stopping pod ${old}, the primary until now`);
      await freeze(cluster, old);
    }
    await steps.beforePromote?.();
    cluster.progress(`making pod ${target} primary`);
    await tool(cluster, {
      pod: targetPod,
      args: ["promote", String(epoch), String(target)],
      timeoutMs: steps.promoteMs,
      loud: true,
    });
  } catch (error) {
    await goBack(cluster, { old, epoch: epoch + 1, targetPod });
    throw error;
  }
  cluster.primary = target;
  cluster.epoch = epoch;
  await followers(cluster, old);
}

/** The primary of a cluster where no pod takes writes or ever will by itself. */
export const nobody = -1;

async function writePlace({ controller, of, kind }: Cluster, primary: number, epoch: number): Promise<void> {
  await controller.setConfig(of, { [kind.primaryKey]: String(primary), [kind.epochKey]: String(epoch) });
}

/** Longest wait for a primary to write out what it has and end. */
const stopMs = 180_000;

/** A container that is gone may be on its way back, made from the config of before; after this long it is not. */
const goneMs = 20_000;

/** How long a stop may take before the signal is sent once more. */
const haltAgainMs = 5_000;

/** The call waits until the pod is down; what happens meanwhile is looked at here. */
async function freeze(cluster: Cluster, ordinal: number): Promise<void> {
  const name = podName(cluster.of, ordinal);
  let goneSince: number | undefined;
  await until(`stopping pod ${ordinal}`, stopMs, async () => {
    const found = await stopped(cluster, name);
    cluster.pods = await cluster.controller.pods(cluster.of);
    const pod = cluster.pods.find((each) => each.name === name);
    goneSince = found || pod !== undefined ? undefined : (goneSince ?? performance.now());
    if (goneSince !== undefined) return performance.now() - goneSince > goneMs;
    return pod !== undefined && !pod.running && pod.frozen;
  });
}

/** A container that has just begun to start may not hear the first signal. */
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

/** The old primary takes over again, unless the target has become one after all: two would be worse than none. */
async function goBack(
  cluster: Cluster,
  { old, epoch, targetPod }: { old: number; epoch: number; targetPod: PodRecord },
): Promise<void> {
  if (old === nobody) return;
  const status = await statusOf(cluster, targetPod);
  if (status?.one("role") !== "standby") {
    cluster.progress(
      `pod ${ordinalOf(targetPod)} may be primary already, so pod ${old} stays stopped; look with: info`,
    );
    return;
  }
  cluster.progress(`going back: pod ${old} stays primary`);
  await writePlace(cluster, old, epoch);
  const pods = await cluster.controller.pods(cluster.of);
  const stayed = pods.some((pod) => ordinalOf(pod) === old && pod.running && !pod.frozen);
  if (!stayed) await cluster.controller.start(podName(cluster.of, old));
}

/** The pod that takes writes stays primary, and everybody hears of it: the end of a command that was interrupted. */
export async function confirmPrimary(cluster: Cluster): Promise<void> {
  const { primary } = cluster;
  await exclusively(cluster, podAt(cluster, primary), async () => {
    if (Number(cluster.config[cluster.kind.primaryKey] ?? "0") !== primary) {
      cluster.epoch += 1;
      await writePlace(cluster, primary, cluster.epoch);
    }
    await followers(cluster, nobody);
  });
}

/** Every other standby is told whom to follow; one that cannot be reached hears of it when it is made anew. */
async function followers(cluster: Cluster, old: number): Promise<void> {
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

/** A standby that was further than the new primary cannot follow as it is; made anew, it takes that back. */
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

/** A pod comes back as a follower of the primary; resolves when it is ready. */
export async function bringBack(cluster: Cluster, ordinal: number, limitMs: number): Promise<void> {
  if (ordinal === cluster.primary) {
    throw new PluginError(`pod ${ordinal} of ${referenceText(cluster.of)} is primary; it has nobody to follow`);
  }
  const name = podName(cluster.of, ordinal);
  cluster.progress(`bringing pod ${ordinal} back as a standby of pod ${cluster.primary}`);
  await cluster.controller.start(name);
  await until(`bringing pod ${ordinal} back`, limitMs, async () => {
    await refresh(cluster);
    return cluster.pods.some((pod) => pod.name === name && pod.running && pod.ready && !pod.frozen);
  });
}
