import { statSync } from "node:fs";
import type { Sample } from "../../core/metrics/series.ts";
import { bare, type Collector } from "./collector.ts";
import { createDeltas } from "./deltas.ts";

interface OwnOptions {
  /** Name → file, of each database. */
  databases: Readonly<Record<string, string>>;
  /** Series that are stored, and samples that were turned away since the start. */
  archive: () => { series: number; refused: number };
  /** Longest hold-up of the event loop since it was last asked, in milliseconds. */
  loopLagMs: () => number;
}

/** The server process itself. */
export function createOwnCollector({ databases, archive, loopLagMs }: OwnOptions): Collector {
  const deltas = createDeltas();
  let last: { micros: number; at: number } | undefined;
  return {
    name: "server",
    collect(at) {
      const { user, system } = process.cpuUsage();
      const micros = user + system;
      const percent = last === undefined || at <= last.at ? undefined : (micros - last.micros) / 10 / (at - last.at);
      last = { micros, at };
      const { series, refused } = archive();
      const values: Record<string, number | undefined> = {
        rss_bytes: process.memoryUsage.rss(),
        cpu_percent: percent === undefined || percent < 0 ? undefined : Math.round(percent * 100) / 100,
        loop_lag_ms: Math.round(loopLagMs()),
        series,
        samples_refused: deltas.of("refused", refused),
      };
      const own = Object.entries(values).flatMap(([metric, value]): Sample[] =>
        value === undefined ? [] : [{ series: bare("server", metric), value }],
      );
      return [...own, ...databaseSizes(databases)];
    },
  };
}

function databaseSizes(databases: Readonly<Record<string, string>>): Sample[] {
  return Object.entries(databases).flatMap(([database, file]) => {
    const bytes = sizeOf(file) + sizeOf(`${file}-wal`);
    return bytes === 0 ? [] : [{ series: bare("server", "database_bytes", { database }), value: bytes }];
  });
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}
