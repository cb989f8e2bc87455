import { noMoreThan, parseArguments, referenceText, wholeNumber } from "../../kit/arguments.ts";
import { type Cluster, podAt, statusOf, tool, until } from "../../kit/cluster.ts";
import { bringBack, chooseTarget, handOver } from "../../kit/handover.ts";
import { loadServer, relink } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError } from "../../kit.ts";
import { redisKind } from "../server.ts";

const rejoinMs = 15 * 60_000;
/** How long writes wait for the standby to get to the end. */
const holdMs = 15_000;

/** `failover SCOPE/NAME`: another pod takes the writes, the old primary follows it, apps get new URLs. */
export async function failover(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["replica"], switches: ["force", "no-rejoin", "yes"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const old = cluster.primary;
  const force = args.on.has("force");
  const target = await chooseTarget(cluster, wholeNumber(args.values.replica, "replica"), force);
  await handOver(cluster, { target, beforeStop: () => level(cluster, target, force), promoteMs: 60_000 });
  const actions = await relink(cluster, redisKind);
  const back = args.on.has("no-rejoin") ? `pod ${old} stays stopped` : await rejoined(cluster, old);
  return { message: `pod ${target} of ${referenceText(cluster.of)} is primary; ${back}`, actions };
}

/** A primary that answers takes no writes until the standby has them all. Positions count only within one history. */
async function level(cluster: Cluster, target: number, force: boolean): Promise<void> {
  const pod = cluster.pods.find(({ replica_id }) => replica_id === String(cluster.primary));
  if (pod === undefined || force || (await statusOf(cluster, pod))?.one("role") !== "primary") return;
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

/** The failover stands whatever becomes of the old primary. */
async function rejoined(cluster: Cluster, old: number): Promise<string> {
  try {
    await bringBack(cluster, old, rejoinMs);
    return `pod ${old} follows it`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `pod ${old} does not follow it yet: ${why}; its log says more, and rejoin tries again`;
  }
}
