const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Limits of the metrics; see `config.ts` for those of everything else. */
export const metricLimits = {
  /** How long each tier is kept, see `core/metrics/tiers.ts`. */
  keptMs: { raw: 48 * hourMs, m1: 14 * dayMs, m15: 90 * dayMs, h1: 730 * dayMs },
  /** What stays of each tier when there are too many bytes: enough to make the next coarser one. */
  floorMs: { raw: 6 * hourMs, m1: 3 * dayMs, m15: 14 * dayMs, h1: 90 * dayMs },
  /** Size of the database. */
  bytesMax: 1024 * 1024 * 1024,
  /** Free space of the disk below which detail goes, and below which nothing is stored any more. */
  diskLowBytes: 1024 * 1024 * 1024,
  diskFullBytes: 256 * 1024 * 1024,
  /** Series at the same time. */
  seriesMax: 20_000,
  /** Those of one app's own metrics for which something came lately. */
  customSeriesPerAppMax: 1_000,
  customActiveMs: 2 * dayMs,
  /** With those whose past is still kept: of one app, and of all apps, so that there is room for the server's own. */
  customKeptPerAppMax: 5_000,
  customKeptMax: 12_000,
  /** Counters of apps whose last value is remembered, and for how long without a new one. */
  intake: { countersMax: 50_000, counterKeptMs: 2 * hourMs },
  /** Length of a name with its labels. */
  seriesKeyLengthMax: 1_024,
  /** Replicas whose containers are remembered. */
  replicasKept: 20_000,
  replicaKeptMs: 14 * dayMs,
  /** Series that become chunks between two turns of the event loop. */
  sealedAtOnce: 50,
  /** After the end of an hour, before its samples become chunks. */
  sealGraceMs: 30_000,
  /** After a clock that jumped, before anything is deleted for its age. */
  clockTrustedMs: dayMs,
  /** A clock that moved by more than this beside the steady one has jumped. */
  clockJumpMs: 10 * 60_000,
  janitorMs: 10 * 60_000,
  /** Points of one series in an answer: what a chart shows, and the most that can be asked for. */
  bucketsDefault: 300,
  bucketsMax: 1_500,
  /** Series that one question may read, and groups in its answer. */
  querySeriesMax: 5_000,
  queryGroupsMax: 200,
  queryMetricsMax: 20,
  /** Milliseconds that a question works before others get their turn. */
  queryTurnMs: 10,
} as const;
