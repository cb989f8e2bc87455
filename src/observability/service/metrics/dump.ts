import { quantile } from "../../../base/pure/histogram.ts";
import { latencyNames } from "../../core/metrics/catalogue.ts";
import type { Series } from "../../core/metrics/series.ts";
import { chunkMs, chunkStart, rawTier, slotsPerChunk } from "../../core/metrics/tiers.ts";
import type { ReplicaRow } from "../../store/metrics/replicas.ts";
import type { MetricsRoom } from "./create.ts";

interface DumpOptions {
  /** Only samples after it. */
  since: number;
  mayRead: (series: Series) => boolean;
}

/** Sources that have lines. */
const dumped = new Set(["system", "pod", "ingress"]);

type Row = Record<string, unknown>;

/** JSON lines of the raw samples, oldest first, in pieces of an hour. */
export async function* dumpRows(room: MetricsRoom, { since, mayRead }: DumpOptions): AsyncIterable<string> {
  const now = room.now();
  const first = chunkStart(rawTier, Math.max(since, now - room.limits.keptMs.raw));
  for (let start = first; start <= now; start += chunkMs(rawTier)) {
    const lines = hourOf(room, { start, since, mayRead });
    if (lines !== "") yield lines;
    // Others have their turn between two hours.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function hourOf(room: MetricsRoom, { start, since, mayRead }: DumpOptions & { start: number }): string {
  const archive = room.archive();
  const replicas = archive.store.replicas.between(start, start + chunkMs(rawTier));
  /** Slot → whose line → the line. */
  const slots = Array.from({ length: slotsPerChunk }, () => new Map<string, Row>());
  for (const { id, series } of archive.table.all()) {
    if (!dumped.has(series.source) || !mayRead(series) || isLeftOut(series)) continue;
    for (const { chunk } of archive.raw(id, { from: start, to: start + chunkMs(rawTier) })) {
      for (const [slot, rows] of slots.entries()) {
        const at = start + slot * rawTier.slotMs;
        if (at <= since) continue;
        const fields = chunk.form === "raw" ? numberField(series, chunk.values[slot]) : undefined;
        const latency = chunk.form === "histogram" ? latencyFields(chunk.slots[slot]) : undefined;
        const found = fields ?? latency;
        if (found === undefined) continue;
        const key = `${series.source} ${series.kind}/${series.scope}/${series.name} ${series.replica} ${series.labels.host ?? ""}`;
        const row = rows.get(key) ?? headOf(series, at, replicas);
        rows.set(key, Object.assign(row, found));
      }
    }
  }
  return slots.flatMap((rows) => [...rows.values()].map((row) => `${JSON.stringify(row)}\n`)).join("");
}

/** A dump has one disk and no devices: clients of other controllers with this API expect no more. */
function isLeftOut({ source, labels }: Series): boolean {
  return source === "system" && Object.keys(labels).length > 0 && labels.mount !== "/";
}

function numberField({ metric }: Series, value: number | undefined): Row | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : { [metric]: value };
}

function latencyFields(histogram: Parameters<typeof quantile>[0] | undefined): Row | undefined {
  if (histogram === undefined) return undefined;
  return Object.fromEntries(Object.entries(latencyNames).map(([name, share]) => [name, quantile(histogram, share)]));
}

/** A round without visitors has no latency, and its line has every field all the same. */
const noLatency = Object.fromEntries(Object.keys(latencyNames).map((name) => [name, 0]));

function headOf(series: Series, at: number, replicas: readonly ReplicaRow[]): Row {
  const { source, kind, scope, name, replica, labels } = series;
  const ts = new Date(at).toISOString();
  if (source === "system") return { ts, source };
  if (source === "ingress") return { ts, source, host: labels.host ?? "", scope, name, ...noLatency };
  const isSame = (row: ReplicaRow) =>
    row.kind === kind && row.scope === scope && row.name === name && row.replica === replica;
  const row = replicas.findLast((one) => isSame(one) && one.beganAt <= at + rawTier.slotMs) ?? replicas.find(isSame);
  return { ts, source, container: row?.container ?? "", kind, scope, name, replica_id: row?.replicaId ?? replica };
}
