import { readSeriesKey, type Series, seriesKey } from "../../core/metrics/series.ts";
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

interface TableLimits {
  seriesMax: number;
  customSeriesPerAppMax: number;
  seriesKeyLengthMax: number;
}

export function createSeriesTable(store: MetricsStore, limits: TableLimits): SeriesTable {
  const byId = new Map<number, KnownSeries>();
  const ids = new Map<string, number>();
  const customPerApp = new Map<string, number>();
  let refused = 0;

  function keep(id: number, series: Series, createdAt: number): void {
    byId.set(id, { id, series, createdAt });
    if (series.source === "custom") addTo(customPerApp, appOf(series), 1);
  }

  for (const { id, key, createdAt } of store.series()) {
    const series = readSeriesKey(key);
    if (series === undefined) continue;
    ids.set(key, id);
    keep(id, series, createdAt);
  }

  function isRefused(series: Series, key: string): boolean {
    if (key.length > limits.seriesKeyLengthMax || ids.size >= limits.seriesMax) return true;
    return series.source === "custom" && (customPerApp.get(appOf(series)) ?? 0) >= limits.customSeriesPerAppMax;
  }

  return {
    idOf(series, at) {
      const key = seriesKey(series);
      const known = ids.get(key);
      if (known !== undefined) return known;
      if (isRefused(series, key)) {
        refused += 1;
        return undefined;
      }
      const id = store.addSeries(key, at);
      ids.set(key, id);
      keep(id, series, at);
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
        if (known.series.source === "custom") addTo(customPerApp, appOf(known.series), -1);
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

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count <= 0) counts.delete(key);
  else counts.set(key, count);
}
