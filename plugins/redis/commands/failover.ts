import { type Cluster, podAt, statusOf, tool, tryTool, until } from "../../kit/cluster.ts";
import { attendCommand } from "../../kit/attend.ts";
import { type Promotion, promotionCommand } from "../../kit/promotion.ts";
import { PluginError } from "../../kit.ts";
import { redisKind } from "../server.ts";

/** How long writes wait for the standby to get to the end. */
const holdMs = 15_000;
const followMs = 60_000;

const promotion: Promotion = {
  kind: redisKind,
  steps: (cluster, target, force) => ({
    ...(force ? {} : { beforeStop: () => level(cluster, target), afterAll: () => letGo(cluster) }),
    promoteMs: 60_000,
  }),
};

/** `failover SCOPE/NAME [--replica N]`. */
export const failover = promotionCommand(promotion);

/** `attend SCOPE/NAME`. */
export const attend = attendCommand(promotion);

/** Writes go on at once, and not only when the time of `hold` is over. */
async function letGo(cluster: Cluster): Promise<void> {
  const pod = cluster.pods.find(({ replica_id }) => replica_id === String(cluster.primary));
  if (pod?.running === true) await tryTool(cluster, { pod, args: ["unhold"] });
}

/** A primary that answers takes no writes until the standby has them all. Positions count only within one history. */
async function level(cluster: Cluster, target: number): Promise<void> {
  const pod = cluster.pods.find(({ replica_id }) => replica_id === String(cluster.primary));
  if (pod === undefined || (await statusOf(cluster, pod))?.one("role") !== "primary") return;
  // A primary that has just come back is followed a moment later; writes need not wait for that.
  await until(`pod ${target} following pod ${cluster.primary}`, followMs, async () => {
    const [theirs, ours] = [await statusOf(cluster, pod), await statusOf(cluster, podAt(cluster, target))];
    return ours?.one("streaming") === "t" && ours.one("replid") === theirs?.one("replid");
  });
  await tool(cluster, { pod, args: ["hold", String(holdMs)] });
  const goal = await statusOf(cluster, pod);
  const other = podAt(cluster, target);
  const isLevel = async () => {
    const status = await statusOf(cluster, other);
    if (goal === undefined || status?.one("streaming") !== "t" || status.one("replid") !== goal.one("replid"))
      return false;
    return BigInt(status.one("position") || "-1") >= BigInt(goal.one("position") || "0");
  };
  try {
    await until(`pod ${target} getting all writes`, holdMs - 5_000, isLevel);
  } catch {
    throw new PluginError(
      `pod ${target} does not get to the end of what pod ${cluster.primary} has; see: info, or use --force`,
    );
  }
}
