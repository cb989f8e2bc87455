import { type Call, type Outcome, PluginError } from "../kit.ts";
import { type Cluster, podName, statusOf } from "./cluster.ts";
import { complete } from "./complete.ts";
import { ordinalOf, runId } from "./controller.ts";
import { isFields } from "./fields.ts";
import { handOver } from "./handover.ts";
import type { FailoverOptions } from "./failover-options.ts";
import type { Promotion } from "./promotion.ts";
import type { Standing } from "./standing.ts";

/** How soon to look again while nothing can be decided. */
const againText = "5s";

/**
 * Decides about a primary that the server calls not ready, and replaces it. The server is the only witness, so there can be
 * no second opinion; what answers as primary is never replaced, and nothing is promoted before the old one is down.
 */
export async function failOver(
  call: Call,
  cluster: Cluster,
  { promotion, options, standing }: { promotion: Promotion; options: FailoverOptions; standing: Standing },
): Promise<Outcome> {
  const { primary } = cluster;
  const downMs = unreadyMs(call, podName(cluster.of, primary));
  if (downMs === undefined) return {};
  if (downMs < options.afterMs) return { again: secondsText(options.afterMs - downMs) };
  // It answers, whatever the probe says: then it may be taking writes.
  if (standing.answers) return { again: againText };
  const [best] = standing.standbys;
  if (best === undefined) {
    throw new PluginError(`pod ${primary} is down, and no standby answers, so no pod can take over`);
  }
  if (options.synchronous) requireWitnesses(cluster, standing.standbys);
  const window = await windowText(cluster, best.ordinal);
  cluster.progress(`pod ${primary} has not been ready for ${secondsText(downMs)}: pod ${best.ordinal} takes over`);
  const stepsOf = (to: number) => promotion.steps(cluster, to, true);
  const handover = { target: best.ordinal, free: true, force: false, rejoin: true, run: runId(call), stepsOf };
  const note = await handOver(cluster, handover);
  const actions = await complete(cluster, promotion.kind, note);
  const why = `pod ${primary} had not been ready for ${secondsText(downMs)}`;
  const lost = options.synchronous ? "no acknowledged write is lost" : window;
  return { message: `failover: pod ${note.to} is primary, because ${why}; ${lost}`, actions };
}

/** One standby has confirmed each write. Which one is not known, so all of them have to be asked. */
function requireWitnesses(cluster: Cluster, answering: readonly { ordinal: number }[]): void {
  const silent = cluster.pods
    .map(ordinalOf)
    .filter((ordinal) => ordinal !== cluster.primary && !answering.some((each) => each.ordinal === ordinal));
  const missing = Number(cluster.replicas) - 1 - answering.length;
  if (missing <= 0) return;
  const who = silent.length === 0 ? `${missing} of the standbys` : `pod ${silent.join(", ")}`;
  throw new PluginError(
    `pod ${cluster.primary} is down, and ${who} does not answer: it may be the only one with the last acknowledged` +
      ` writes, so no pod takes over; start it, or lose them with --force`,
  );
}

/** How old the newest change is that the standby has: what the primary acknowledged after it is lost. */
async function windowText(cluster: Cluster, ordinal: number): Promise<string> {
  const pod = cluster.pods.find((each) => ordinalOf(each) === ordinal);
  const last = pod === undefined ? "" : ((await statusOf(cluster, pod))?.one("last") ?? "");
  const since = last === "" ? "after it was last connected" : `after ${last}`;
  return `what pod ${cluster.primary} acknowledged ${since} and had not sent is lost`;
}

function unreadyMs({ input }: Call, name: string): number | undefined {
  const list: unknown[] = Array.isArray(input.unready) ? input.unready : [];
  const found = list.find((item) => isFields(item) && item.pod === name);
  return isFields(found) && typeof found.ms === "number" ? found.ms : undefined;
}

function secondsText(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1_000))}s`;
}
