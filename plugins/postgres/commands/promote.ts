import { type Cluster, podAt, statusOf, tool } from "../../kit/cluster.ts";
import { promotionCommand } from "../../kit/promotion.ts";
import { PluginError } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** Longest wait for a standby to apply what it has received. */
const catchUpMs = 6 * 60_000;

/** `promote SCOPE/NAME [--replica N]`. */
export const promote = promotionCommand({
  kind: postgresKind,
  refuseLoss,
  steps: (cluster, target) => ({
    async beforePromote() {
      await tool(cluster, { pod: podAt(cluster, target), args: ["caught_up"], timeoutMs: catchUpMs });
    },
    promoteMs: 120_000,
  }),
});

/** A primary that answers sends everything before it ends, but only to a standby that is connected. */
async function refuseLoss(cluster: Cluster, target: number): Promise<void> {
  const pod = cluster.pods.find(({ replica_id }) => replica_id === String(cluster.primary));
  const status = pod === undefined ? undefined : await statusOf(cluster, pod);
  if (status?.one("role") !== "primary") return;
  if (status.all("standby").some((line) => line.startsWith(`pod-${target} streaming`))) return;
  throw new PluginError(
    `pod ${target} is not connected to the primary, so what it does not have yet would be lost; see: info, or use --force`,
  );
}
