import type { Call, CommandHandler, Outcome } from "../kit.ts";
import { noMoreThan, parseArguments, referenceText, wholeNumber } from "./arguments.ts";
import type { Cluster } from "./cluster.ts";
import { bringBack, confirmPrimary, type Handover, handOver, nobody } from "./handover.ts";
import { loadServer, relink, type ServerKind } from "./server.ts";
import { chooseTarget, standingOf } from "./standing.ts";

/** A promotion of one kind of server. */
export interface Promotion {
  kind: ServerKind;
  /** Fails where the target does not have what the primary has and will not get it. Not asked with force. */
  refuseLoss?: (cluster: Cluster, target: number) => Promise<void>;
  steps: (cluster: Cluster, target: number, force: boolean) => Omit<Handover, "target">;
}

/** Longest wait for the old primary to come back; a copy of everything may be needed. */
const rejoinMs = 15 * 60_000;

/**
 * `promote SCOPE/NAME [--replica N]`: the old primary is frozen, the standby takes over, linked apps get new URLs, the old
 * one follows. Run again after it was interrupted, it goes on from where that was.
 */
export function promotionCommand({ kind, refuseLoss, steps }: Promotion): CommandHandler {
  return async (call: Call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["replica"], switches: ["force", "no-rejoin", "yes"] });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    const force = args.on.has("force");
    const standing = await standingOf(cluster);
    const target = chooseTarget(cluster, standing, { wanted: wholeNumber(args.values.replica, "replica"), force });
    cluster.primary = standing.primary;
    if (target === standing.primary) return confirmed(cluster, kind);
    if (!force && standing.primary !== nobody) await refuseLoss?.(cluster, target);
    await handOver(cluster, { target, ...steps(cluster, target, force) });
    const actions = await relink(cluster, kind);
    const back = args.on.has("no-rejoin")
      ? `pod ${standing.primary} stays stopped`
      : await rejoined(cluster, standing.primary);
    return { message: `pod ${target} of ${referenceText(cluster.of)} is primary; ${back}`, actions };
  };
}

/** It is primary: what an interrupted command had still to tell is told. */
async function confirmed(cluster: Cluster, kind: ServerKind): Promise<Outcome> {
  await confirmPrimary(cluster);
  const actions = await relink(cluster, kind);
  const stopped = cluster.pods.filter(({ frozen }) => frozen).map(({ replica_id }) => replica_id);
  const rest =
    stopped.length === 0 ? "" : `; pod ${stopped.join(", ")} is stopped and comes back with: rejoin --replica N`;
  return { message: `pod ${cluster.primary} of ${referenceText(cluster.of)} is primary already${rest}`, actions };
}

/** The promotion stands whatever becomes of the old primary. */
async function rejoined(cluster: Cluster, old: number): Promise<string> {
  if (old === nobody) return "every other pod follows it";
  try {
    await bringBack(cluster, old, rejoinMs);
    return `pod ${old} follows it`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `pod ${old} does not follow it yet: ${why}; its log says more, and rejoin tries again`;
  }
}
