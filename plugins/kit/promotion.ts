import type { Call, CommandHandler, Outcome } from "../kit.ts";
import { nobody } from "./note.ts";
import { noMoreThan, parseArguments, referenceText, wholeNumber } from "./arguments.ts";
import { type Cluster, refresh } from "./cluster.ts";
import { complete, settle } from "./complete.ts";
import { runId } from "./controller.ts";
import { comesBack, confirmPrimary, handOver, type Steps } from "./handover.ts";
import { loadServer, relink, requireLinkedApps, type ServerKind } from "./server.ts";
import { chooseTarget, standingOf } from "./standing.ts";

/** A promotion of one kind of server. */
export interface Promotion {
  kind: ServerKind;
  steps: (cluster: Cluster, target: number, force: boolean) => Steps;
}

/** Longest wait for the old primary to come back; a copy of everything may be needed. */
const rejoinMs = 15 * 60_000;

/**
 * `promote SCOPE/NAME [--replica N]`: the old primary is stopped, the standby takes over, linked apps get new URLs, the old
 * one follows. A promotion that was cut off is finished or undone first.
 */
export function promotionCommand(promotion: Promotion): CommandHandler {
  const { kind } = promotion;
  return async (call: Call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["replica"], switches: ["force", "no-rejoin", "yes"] });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    await requireLinkedApps(cluster, kind);
    const force = args.on.has("force");
    const stepsOf = (to: number) => promotion.steps(cluster, to, force);
    await tidied(cluster, kind, stepsOf);
    const standing = await standingOf(cluster);
    const wanted = wholeNumber(args.values.replica, "replica");
    const target = chooseTarget(cluster, standing, wanted);
    cluster.primary = standing.primary;
    if (target === standing.primary) return confirmed(cluster, kind);
    const rejoin = !args.on.has("no-rejoin");
    const free = wanted === undefined;
    const note = await handOver(cluster, { target, free, force, rejoin, run: runId(call), stepsOf });
    const actions = await complete(cluster, kind, note);
    const back = rejoin ? await rejoined(cluster, note.from) : `pod ${note.from} stays stopped`;
    return { message: `pod ${note.to} of ${referenceText(cluster.of)} is primary; ${back}`, actions };
  };
}

async function tidied(cluster: Cluster, kind: ServerKind, stepsOf: (target: number) => Steps): Promise<void> {
  const settled = await settle(cluster, kind, stepsOf);
  if (settled === undefined) return;
  cluster.progress(settled.message);
  await refresh(cluster);
}

/** The pod is primary: this reports what an interrupted command had not reported yet. */
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
    await comesBack(cluster, old, rejoinMs);
    return `pod ${old} follows it`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `pod ${old} does not follow it yet: ${why}; its log says more, and rejoin tries again`;
  }
}
