import { noMoreThan, parseArguments, referenceText, wholeNumber } from "../../kit/arguments.ts";
import { type Cluster, podAt, statusOf, tool } from "../../kit/cluster.ts";
import { bringBack, chooseTarget, handOver } from "../../kit/handover.ts";
import { loadServer, relink } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** Longest wait for a standby to apply what it has received. */
const catchUpMs = 6 * 60_000;
/** Longest wait for the old primary to come back; a copy of everything may be needed. */
const rejoinMs = 15 * 60_000;

/** `promote SCOPE/NAME`: the old primary is frozen, the standby takes over, the old one follows it, apps get new URLs. */
export async function promote(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["replica"], switches: ["force", "no-rejoin", "yes"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const old = cluster.primary;
  const force = args.on.has("force");
  const target = await chooseTarget(cluster, wholeNumber(args.values.replica, "replica"), force);
  await refuseLoss(cluster, target, force);
  const pod = podAt(cluster, target);
  await handOver(cluster, {
    target,
    beforePromote: async () => void (await tool(cluster, { pod, args: ["caught_up"], timeoutMs: catchUpMs })),
    promoteMs: 120_000,
  });
  const actions = await relink(cluster, postgresKind);
  const back = args.on.has("no-rejoin") ? `pod ${old} stays stopped` : await rejoined(cluster, old);
  return { message: `pod ${target} of ${referenceText(cluster.of)} is primary; ${back}`, actions };
}

/** A primary that answers sends everything before it ends, but only to a standby that is connected. */
async function refuseLoss(cluster: Cluster, target: number, force: boolean): Promise<void> {
  const pod = cluster.pods.find(({ replica_id }) => replica_id === String(cluster.primary));
  const status = pod === undefined ? undefined : await statusOf(cluster, pod);
  if (status === undefined || status.one("role") !== "primary" || force) return;
  if (status.all("standby").some((line) => line.startsWith(`pod-${target} streaming`))) return;
  throw new PluginError(
    `pod ${target} is not connected to the primary, so what it does not have yet would be lost; see: info, or use --force`,
  );
}

/** The promotion stands whatever becomes of the old primary. */
async function rejoined(cluster: Cluster, old: number): Promise<string> {
  try {
    await bringBack(cluster, old, rejoinMs);
    return `pod ${old} follows it`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `pod ${old} does not follow it yet: ${why}; its log says more, and rejoin tries again`;
  }
}
