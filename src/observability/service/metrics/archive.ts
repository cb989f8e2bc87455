import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { typeOf } from "../../core/metrics/catalogue.ts";
import type { Sample } from "../../core/metrics/series.ts";
import type { Plan } from "../../core/metrics/plan.ts";
import { rawTier, tiers } from "../../core/metrics/tiers.ts";
import { type MetricsStore, openMetricsStore } from "../../store/metrics/metrics-store.ts";
import type { CustomLimits } from "./custom-series.ts";
import { createHead } from "./head.ts";
import { createJanitor, type JanitorLimits, type JanitorReport } from "./janitor.ts";
import { answerMetric, type MetricAnswer, type MetricQuestion } from "./query.ts";
import { readSpan, type Span } from "./read.ts";
import { createSealer } from "./seal.ts";
import { createSeriesTable, type SeriesTable } from "./series-table.ts";

export interface ArchiveLimits extends JanitorLimits, CustomLimits {
  seriesMax: number;
  seriesKeyLengthMax: number;
  sealedAtOnce: number;
  sealGraceMs: number;
  querySeriesMax: number;
  queryGroupsMax: number;
  queryTurnMs: number;
}

interface ArchiveParts {
  file: string;
  clock: SteadyClock;
  log: Log;
  freeBytes: () => number | undefined;
  /** Lets others have their turn. */
  pause: () => Promise<void>;
  limits: ArchiveLimits;
}

/** The samples of the past: a database, with the newest hour in memory. */
export interface Archive {
  store: MetricsStore;
  table: SeriesTable;
  /** Stores samples of one instant. Fails as SQLite does. */
  record(at: number, samples: readonly Sample[]): void;
  ask(question: MetricQuestion, plan: Plan): Promise<MetricAnswer>;
  /** The raw chunks of a series that hold a span. */
  raw(series: number, span: Span): ReturnType<ReturnType<typeof readSpan>>;
  /** Makes chunks of what has passed, and deletes what is too old or too much. */
  tend(): Promise<void>;
  seal(): Promise<void>;
  report(): JanitorReport;
  close(): void;
}

/** Opens the archive, with what a server that was killed had not made chunks of. */
export function openArchive(parts: ArchiveParts): Archive {
  const { clock, log, limits, pause } = parts;
  const store = openMetricsStore(parts.file, (why) =>
    log.error("metrics database set aside, an empty one begins", { file: parts.file, why }),
  );
  const table = createSeriesTable(store, limits);
  const head = createHead((id) => {
    const series = table.byId(id)?.series;
    return series !== undefined && typeOf(series.source, series.metric) === "counter";
  });
  for (const { at, tick } of store.tail())
    head.add(
      at,
      tick.filter(({ id }) => table.byId(id) !== undefined),
    );
  const sealer = createSealer({
    store,
    head,
    pause,
    sealedAtOnce: limits.sealedAtOnce,
    sealGraceMs: limits.sealGraceMs,
  });
  const janitor = createJanitor({ store, table, clock, log, freeBytes: parts.freeBytes, pause, limits });
  const oldest = () => Math.min(...tiers.flatMap((tier) => store.firstStart(tier) ?? []), ...head.starts());
  const query = {
    table,
    read: (series: number, plan: Plan) =>
      readSpan({ store, head }, series, plan.tier)({ from: plan.from, to: plan.to }),
    oldest: (plan: Plan) => {
      const stored = tiers.filter(({ id }) => id >= plan.tier.id).flatMap((tier) => store.firstStart(tier) ?? []);
      const first = Math.min(...(stored.length === 0 ? [oldest()] : stored));
      return Number.isFinite(first) ? first : undefined;
    },
    steady: () => clock.steady(),
    pause,
    limits,
  };

  return {
    store,
    table,
    record(at, samples) {
      if (janitor.report().disk === "full") return;
      store.together(() => {
        const tick: { id: number; value: Sample["value"] }[] = [];
        for (const { series, value } of samples) {
          const id = isStorable(value) ? table.idOf(series, at) : undefined;
          if (id !== undefined) tick.push({ id, value });
        }
        store.appendTick(at, tick);
        head.add(at, tick);
      });
    },
    ask: (question, plan) => answerMetric(query, question, plan),
    raw: (series, span) => readSpan({ store, head }, series, rawTier)(span),
    seal: () => sealer.seal(clock.now()),
    async tend() {
      await sealer.seal(clock.now());
      await janitor.round();
    },
    report: () => janitor.report(),
    close() {
      store.close();
    },
  };
}

const isStorable = (value: Sample["value"]) => typeof value !== "number" || Number.isFinite(value);
