import { readSeriesKey, type Series, seriesKey } from "../../core/metrics/series.ts";
import { createCustomSeries, type CustomLimits } from "./custom-series.ts";
import type { MetricsStore } from "../../store/metrics/metrics-store.ts";

/** A series with its number in the database. */
export interface KnownSeries {
  id: number;
  series: Series;
  createdAt: number;
}

/** All series that are known, in memory. */
export interface SeriesTable {
  /** The number of a series, new ones included; undefined when there are too many already. */
  idOf(series: Series, at: number): number | undefined;
  byId(id: number): KnownSeries | undefined;
  all(): Iterable<KnownSeries>;
  forget(ids: readonly number[]): void;
  readonly size: number;
  /** Samples that were turned away since the start, because of a limit. */
  readonly refused: number;
}

interface TableLimits extends CustomLimits {
  seriesMax: number;
  seriesKeyLengthMax: number;
}

export function createSeriesTable(store: MetricsStore, limits: TableLimits): SeriesTable {
  const byId = new Map<number, KnownSeries>();
  const ids = new Map<string, number>();
  const custom = createCustomSeries(limits);
  let refused = 0;

  function keep(known: KnownSeries, seenAt: number): void {
    byId.set(known.id, known);
    if (known.series.source === "custom") custom.seen(appOf(known.series), known.id, seenAt);
  }

  for (const { id, key, createdAt, seenAt } of store.series()) {
    const series = readSeriesKey(key);
    if (series === undefined) continue;
    ids.set(key, id);
    keep({ id, series, createdAt }, seenAt);
  }

  function isRefused(series: Series, key: string, at: number): boolean {
    if (key.length > limits.seriesKeyLengthMax || ids.size >= limits.seriesMax) return true;
    return series.source === "custom" && !custom.hasRoom(appOf(series), at);
  }

  return {
    idOf(series, at) {
      const key = seriesKey(series);
      const known = ids.get(key);
      if (known !== undefined) {
        if (series.source === "custom") custom.seen(appOf(series), known, at);
        return known;
      }
      if (isRefused(series, key, at)) {
        refused += 1;
        return undefined;
      }
      const id = store.addSeries(key, at);
      ids.set(key, id);
      keep({ id, series, createdAt: at }, at);
      return id;
    },
    byId: (id) => byId.get(id),
    all: () => byId.values(),
    forget(gone) {
      for (const id of gone) {
        const known = byId.get(id);
        if (known === undefined) continue;
        byId.delete(id);
        ids.delete(seriesKey(known.series));
        if (known.series.source === "custom") custom.forget(appOf(known.series), id);
      }
    },
    get size() {
      return ids.size;
    },
    get refused() {
      return refused;
    },
  };
}

const appOf = ({ scope, name }: Series) => `${scope}/${name}`;
