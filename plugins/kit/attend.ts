import type { Call, CommandHandler, Outcome } from "../kit.ts";
import { noMoreThan, parseArguments } from "./arguments.ts";
import { type Cluster, refresh } from "./cluster.ts";
import { settle } from "./complete.ts";
import { runId } from "./controller.ts";
import { isFields } from "./fields.ts";
import { failOver } from "./failover.ts";
import { failoverOf } from "./failover-options.ts";
import { confirmPrimary, handOver } from "./handover.ts";
import { complete } from "./complete.ts";
import { nobody, readNote } from "./note.ts";
import type { Promotion } from "./promotion.ts";
import { loadServer, relink } from "./server.ts";
import { type Standing, standingOf } from "./standing.ts";

/**
 * `attend SCOPE/NAME`, which the server runs by itself: finishes or undoes a promotion that was cut off, sets right a config
 * that names another pod than the one that takes writes, and fails over where the block asks for that.
 */
export function attendCommand(promotion: Promotion): CommandHandler {
  const { kind } = promotion;
  return async (call: Call): Promise<Outcome> => {
    const args = parseArguments(call.args, {});
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    if (readNote(cluster) !== undefined) {
      return (await settle(cluster, kind, (to) => promotion.steps(cluster, to, true))) ?? {};
    }
    const { block } = call.input;
    const standing = await standingOf(cluster);
    const repaired = await repair(call, cluster, { promotion, standing });
    if (repaired !== undefined) return repaired;
    const options = failoverOf(isFields(block) ? block.spec : undefined);
    return options === undefined ? {} : failOver(call, cluster, { promotion, options, standing });
  };
}

/** An older version could leave a config that names one pod while another takes writes, or while none does. */
async function repair(
  call: Call,
  cluster: Cluster,
  { promotion, standing }: { promotion: Promotion; standing: Standing },
): Promise<Outcome | undefined> {
  const { kind } = promotion;
  if (standing.answers && standing.primary !== standing.intended) {
    cluster.primary = standing.primary;
    await confirmPrimary(cluster);
    const message = `the config named pod ${standing.intended}, and pod ${standing.primary} takes writes: that stays primary`;
    return { message, actions: await relink(cluster, kind) };
  }
  const allFollow = standing.primary === nobody && standing.standbys.length === cluster.replicas;
  const target = standing.standbys.find(({ ordinal }) => ordinal === standing.intended) ?? standing.standbys[0];
  if (!allFollow || target === undefined) return undefined;
  cluster.primary = nobody;
  const stepsOf = (to: number) => promotion.steps(cluster, to, true);
  const { ordinal } = target;
  const handover = { target: ordinal, free: true, force: false, rejoin: false, run: runId(call), stepsOf };
  const note = await handOver(cluster, handover);
  const actions = await complete(cluster, kind, note);
  await refresh(cluster);
  return { message: `every pod followed another and none took writes: pod ${note.to} is primary now`, actions };
}
