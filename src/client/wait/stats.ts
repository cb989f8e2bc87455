import type { Client } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { listStats } from "../../orchestration/api/stats.ts";
import { kindNamed } from "../basics/kinds.ts";
import { parseReference, splitReplica } from "../basics/reference.ts";

export type StatsReport = DataOf<typeof listStats>;

/**
 * What the pods use that a reference names: all without one, those of a `kind`, a `scope`, of `scope/name`, one replica
 * with `scope/name.replica`, or one by its container name.
 */
export async function findStats(
  api: Client,
  text: string | undefined,
  { orphans }: { orphans: boolean },
): Promise<StatsReport> {
  // Now, and not as of the last reading: that one does not have the pods that were started since.
  const options = { orphans, live: true };
  if (text === undefined) return api.call(listStats, { query: options });
  const { word, kind, scope, name = "" } = parseReference(text);
  if (word?.includes(".")) return only(await api.call(listStats, { query: options }), (pod) => pod === word);
  if (word !== undefined) {
    const known = kindNamed(word);
    return api.call(listStats, { query: { ...options, ...(known === undefined ? { scope: word } : { kind: known }) } });
  }
  const whole = await api.call(listStats, { query: { ...options, kind, scope, name } });
  const split = splitReplica(name);
  if (whole.pods.length > 0 || split === undefined) return whole;
  const siblings = await api.call(listStats, { query: { ...options, kind, scope, name: split.name } });
  return only(siblings, (_pod, replica) => replica === split.replica);
}

function only(report: StatsReport, keep: (pod: string, replica: string) => boolean): StatsReport {
  return { ...report, pods: report.pods.filter((pod) => keep(pod.container_name, pod.identity.replica_id)) };
}
