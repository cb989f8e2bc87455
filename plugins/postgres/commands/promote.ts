import { type Cluster, podAt, statusOf, tool, until } from "../../kit/cluster.ts";
import { attendCommand } from "../../kit/attend.ts";
import { type Promotion, promotionCommand } from "../../kit/promotion.ts";
import { PluginError } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** Longest wait for a standby to apply what it has received. */
const catchUpMs = 6 * 60_000;

const promotion: Promotion = {
  kind: postgresKind,
  steps: (cluster, target, force) => ({
    ...(force ? {} : { beforeStop: () => refuseLoss(cluster, target) }),
    async beforePromote() {
      await tool(cluster, { pod: podAt(cluster, target), args: ["caught_up"], timeoutMs: catchUpMs });
    },
    promoteMs: 120_000,
  }),
};

/** `promote SCOPE/NAME [--replica N]`. */
export const promote = promotionCommand(promotion);

/** `attend SCOPE/NAME`. */
export const attend = attendCommand(promotion);

/** How long a standby may take to connect to a primary that has just come back: it tries every five seconds. */
const connectMs = 20_000;

/** A primary that answers sends everything before it ends, but only to a standby that is connected. */
export async function refuseLoss(cluster: Cluster, target: number, limitMs: number = connectMs): Promise<void> {
  const pod = cluster.pods.find(({ replica_id }) => replica_id === String(cluster.primary));
  if (pod === undefined) return;
  const willSend = async () => {
    const status = await statusOf(cluster, pod);
    if (status?.one("role") !== "primary") return true;
    return status.all("standby").some((line) => line.startsWith(`pod-${target} streaming`));
  };
  try {
    await until(`pod ${target} connecting`, limitMs, willSend);
  } catch {
    throw new PluginError(
      `pod ${target} is not connected to the primary, so what it does not have yet would be lost; see: info, or use --force`,
    );
  }
}
