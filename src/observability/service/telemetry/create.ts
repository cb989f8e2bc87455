import { Failure } from "../../../base/wire/failure.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { ManifestKey } from "../../../orchestration/api/manifest.ts";
import type { Sender } from "../../../orchestration/api/sender.ts";
import { appKey, type LogApp, type NewLine } from "../../core/logs/line.ts";
import type { Taken } from "../../core/otlp/answer.ts";
import { linesOf } from "../../core/otlp/log-lines.ts";
import { itemWord, type PointLimits, pointsOf } from "../../core/otlp/metric-points.ts";
import type { OtlpLogs, OtlpMetrics, OtlpTraces } from "../../core/otlp/model.ts";
import type { Signal } from "../../core/otlp/shapes.ts";
import { type SpanLimits, spansOf } from "../../core/otlp/spans.ts";
import { type Bucket, type Rate, takeMany } from "../../core/tokens/bucket.ts";
import type { LogsRoom } from "../logs/create.ts";
import type { MetricsRoom } from "../metrics/create.ts";
import type { TracesRoom } from "../traces/create.ts";
import type { TelemetryNotes } from "./notes.ts";
import { createGather } from "./gather.ts";

export interface TelemetryLimits {
  requests: Rate;
  bytes: Rate;
  gatherMs: number;
  waitingBytesMax: number;
  recordBytesMin: number;
  pointBytesMin: number;
  spanBytesMin: number;
  noteMs: number;
  appsMax: number;
  points: PointLimits;
  spans: SpanLimits;
  lines: { lineCharactersMax: number; ageMs: number; aheadMs: number };
}

/** A request that was decoded. */
interface SentTelemetry {
  sender: Sender;
  signal: Signal;
  request: Record<string, unknown>;
  /** After it was decompressed. */
  bytes: number;
}

/** Takes what apps send over OTLP into the stores of this plane. */
export interface TelemetryRoom {
  /** Fails `too_many` for an app that sends more than its share, in requests or in bytes. */
  admit(sender: Sender, count: { requests: number; bytes: number }): void;
  /**
   * Resolves when logs and spans are stored, and metrics wait for the next round of samples. Fails `unavailable` when
   * they cannot be stored now, so that the app tries again.
   */
  take(sent: SentTelemetry): Promise<Taken>;
}

interface TelemetryParts {
  logs: LogsRoom;
  metrics: MetricsRoom;
  traces: TracesRoom;
  notes: TelemetryNotes;
  clock: SteadyClock;
  log: Log;
  limits: TelemetryLimits;
}

export function createTelemetryRoom({
  logs,
  metrics,
  traces,
  notes,
  clock,
  log,
  limits,
}: TelemetryParts): TelemetryRoom {
  const buckets = new Map<string, Bucket>();
  const apps = new Map<string, LogApp>();
  const lines = createGather<NewLine>({
    clock,
    ...limits,
    write: async (key, items) => {
      const app = apps.get(key);
      if (app !== undefined) await logs.ingest(app, items);
    },
  });

  function spend(what: "requests" | "bytes", app: ManifestKey, count: number): void {
    const key = `${what} ${appKey(app)}`;
    const rate = limits[what];
    const { bucket, waitMs } = takeMany(buckets.get(key), rate, {
      now: clock.steady(),
      count: Math.min(count, rate.burst),
    });
    keepBounded(buckets, key, bucket);
    if (waitMs === undefined) return;
    const text = `${appKey(app)} sends too many ${what}: ${rate.burst} at once and ${rate.perMinute} a minute are allowed`;
    tell(app, text);
    throw new Failure("too_many", text, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
  }

  function keepBounded<V>(map: Map<string, V>, key: string, value: V): void {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.size > 2 * limits.appsMax ? map.keys() : [];
    if (oldest !== undefined) map.delete(oldest);
  }

  function tell(app: ManifestKey, reason: string): void {
    if (notes.add(app, reason)) log.warn("telemetry of an app is not kept", { app: appKey(app), reason });
  }

  /** However few bytes an item has, it is as much work as others. Returns the bytes that it all counts as. */
  function spendItems(key: ManifestKey, bytes: number, { count, least }: { count: number; least: number }): number {
    const counted = Math.max(bytes, count * least);
    if (counted > bytes) spend("bytes", key, counted - bytes);
    return counted;
  }

  function takeMetrics({ key, id, pod, ordinal, role }: Sender, { request, bytes }: SentTelemetry): Taken {
    const read = pointsOf(request as OtlpMetrics, limits.points);
    spendItems(key, bytes, { count: read.points.length + read.rejected, least: limits.pointBytesMin });
    const replica = role === undefined ? metrics.places.of(key, { id, ordinal }) : "";
    if (metrics.intervalMs > 0) metrics.intake.add({ ...key, replica, container: pod }, read, clock.now());
    else {
      read.rejected += read.points.length;
      read.reasons.add("metrics are turned off on this server (--stats-interval 0)");
    }
    return { rejected: read.rejected, message: [...read.reasons].slice(0, reasonsMax).join("; ") };
  }

  async function takeLogs({ key, id, pod, replicaId, releaseId = "", role = "" }: Sender, sent: SentTelemetry) {
    const source = { id: `otlp ${id}`, pod, replica: replicaId, release: releaseId, role };
    const found = linesOf(sent.request as OtlpLogs, { source, now: clock.now(), limits: limits.lines });
    const app = { scope: key.scope, name: key.name };
    keepBounded(apps, appKey(app), app);
    const bytes = spendItems(key, sent.bytes, { count: found.length, least: limits.recordBytesMin });
    await lines.add(appKey(app), found, bytes);
    return { rejected: 0, message: "" };
  }

  function takeSpans({ key, replicaId }: Sender, { request, bytes }: SentTelemetry): Taken {
    const app = { scope: key.scope, name: key.name };
    const { spans, rejected } = spansOf(request as OtlpTraces, {
      app: key.name,
      replica: replicaId,
      now: clock.now(),
      limits: limits.spans,
    });
    spendItems(key, bytes, { count: spans.length + rejected, least: limits.spanBytesMin });
    const kept = spans.length === 0 ? { rejected: 0, reason: "" } : traces.add(app, spans);
    const reasons = [rejected === 0 ? "" : "spans need a trace id, a span id and a time of the last day", kept.reason];
    return { rejected: rejected + kept.rejected, message: reasons.filter(Boolean).join("; ") };
  }

  async function takeSignal(sent: SentTelemetry): Promise<Taken> {
    const { sender, signal } = sent;
    if (signal === "metrics") return takeMetrics(sender, sent);
    return signal === "traces" ? takeSpans(sender, sent) : takeLogs(sender, sent);
  }

  return {
    admit({ key }, { requests, bytes }) {
      if (requests > 0) spend("requests", key, requests);
      if (bytes > 0) spend("bytes", key, bytes);
    },
    async take(sent) {
      const { sender, signal } = sent;
      const taken = await takeSignal(sent);
      if (taken.rejected > 0) tell(sender.key, taken.message);
      return taken.rejected === 0
        ? taken
        : { ...taken, message: `${taken.rejected} ${itemWord[signal]} not kept: ${taken.message}` };
    },
  };
}

const reasonsMax = 5;
