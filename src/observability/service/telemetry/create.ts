import { Failure } from "../../../base/wire/failure.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { createFairLimit } from "../../../base/words/fair-limit.ts";
import type { Log } from "../../../base/words/log.ts";
import type { ManifestKey } from "../../../orchestration/api/manifest.ts";
import type { Sender } from "../../../orchestration/api/sender.ts";
import { appKey, type LogApp } from "../../core/logs/line.ts";
import type { Taken } from "../../core/otlp/answer.ts";
import { itemWord, type ReadPoints } from "../../core/otlp/metric-points.ts";
import type { Signal } from "../../core/otlp/shapes.ts";
import type { Rate } from "../../core/tokens/bucket.ts";
import type { Span } from "../../core/traces/span.ts";
import type { LogsRoom } from "../logs/create.ts";
import type { MetricsRoom } from "../metrics/create.ts";
import type { TracesRoom } from "../traces/create.ts";
import { createAllowance } from "./allowance.ts";
import { DecodeError } from "./decode.ts";
import { createDecodeThread, type DecodeThread, type StartDecodeThread } from "./decode-thread.ts";
import { createGather } from "./gather.ts";
import type { DecodedPart, DecodeSetup, OtlpEncoding } from "./messages.ts";
import type { TelemetryNotes } from "./notes.ts";

export interface TelemetryLimits {
  requests: Rate;
  bytes: Rate;
  gatherMs: number;
  waitingBytesMax: number;
  leastBytes: number;
  /** Requests that wait for their turn to be decoded. */
  waitingMax: number;
  noteMs: number;
  appsMax: number;
  thread: { deadlineMs: number; idleMs: number };
  decode: DecodeSetup;
}

/** A request as it came. */
interface SentTelemetry {
  sender: Sender;
  signal: Signal;
  encoding: OtlpEncoding;
  /** Whether the body is gzip. */
  isPacked: boolean;
  body: ArrayBuffer;
  /** Bytes that `admit` counted already. */
  counted: number;
}

/** Takes what apps send over OTLP into the stores of this plane. */
export interface TelemetryRoom {
  /** Counts a request, before its body is read. Fails `too_many` for an app that sends more than its share. */
  admit(sender: Sender, bytes: number): void;
  /**
   * Resolves when logs and spans are stored, and metrics wait for the next round of samples. Fails `too_many` where the
   * request holds more than the app may still send, and `unavailable` when it cannot be stored now: the app tries again.
   */
  take(sent: SentTelemetry): Promise<Taken>;
  close(): void;
}

interface TelemetryParts {
  /** The thread that decodes; without it nothing is taken. */
  start: StartDecodeThread | undefined;
  logs: LogsRoom;
  metrics: MetricsRoom;
  traces: TracesRoom;
  notes: TelemetryNotes;
  clock: SteadyClock;
  log: Log;
  limits: TelemetryLimits;
}

const busy = () => new Failure("unavailable", "too many requests at one time", { retryAfterSeconds: 1 });

export function createTelemetryRoom(parts: TelemetryParts): TelemetryRoom {
  const { logs, metrics, traces, notes, clock, log, limits, start } = parts;
  const allowance = createAllowance({ rates: limits, ...limits, notes, clock, log });
  const apps = new Map<string, LogApp>();
  const inTurn = createFairLimit({ running: 1, waitingMax: limits.waitingMax, refusal: busy });
  const thread: DecodeThread | undefined =
    start && createDecodeThread({ start, setup: limits.decode, limits: limits.thread, clock, log });
  const lines = createGather<Uint8Array>({
    clock,
    ...limits,
    write: async (key, items) => {
      const app = apps.get(key);
      if (app !== undefined) await logs.ingest(app, items);
    },
  });

  function tell(app: ManifestKey, reason: string): void {
    if (notes.add(app, reason)) log.warn("telemetry of an app is not kept", { app: appKey(app), reason });
  }

  function takePoints({ key, id, pod, ordinal, role }: Sender, read: ReadPoints): void {
    const replica = role === undefined ? metrics.places.of(key, { id, ordinal }) : "";
    if (metrics.intervalMs > 0) metrics.intake.add({ ...key, replica, container: pod }, read, clock.now());
    else {
      read.rejected += read.points.length;
      read.reasons.add("metrics are turned off on this server (--stats-interval 0)");
    }
  }

  function takeSpans({ key }: Sender, spans: readonly Span[], into: Rejected): void {
    const { rejected, reason } = traces.add({ scope: key.scope, name: key.name }, spans);
    into.rejected += rejected;
    if (reason !== "") into.reasons.add(reason);
  }

  /** Decodes a request in its turn, and counts what it was. */
  async function decoded(sent: SentTelemetry, onPart: (part: DecodedPart) => void) {
    const { sender, signal, encoding, isPacked, body, counted } = sent;
    const { key, id, pod, replicaId, releaseId = "", role = "" } = sender;
    if (thread === undefined) throw new Failure("unavailable", "telemetry is not taken by this server");
    // What was counted already is part of what the request may hold.
    const bytesLeft = allowance.bytesLeft(key) + counted;
    const source = { id: `otlp ${id}`, pod, replica: replicaId, release: releaseId, role };
    const job = { signal, encoding, isPacked, body, bytesLeft, now: clock.now(), app: key.name, source };
    try {
      const summary = await thread.run(job, onPart);
      allowance.spend(key, summary.charged - counted);
      return summary;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      allowance.spend(key, error.charged - counted);
      throw failureOf(error, key, bytesLeft);
    }
  }

  function failureOf({ fault, message }: DecodeError, key: ManifestKey, bytesLeft: number): Failure {
    if (fault === "invalid" || fault === "too_large") return new Failure(fault, message);
    if (fault === "internal") return new Failure("unavailable", "the request could not be decoded");
    const { burst, perMinute } = limits.bytes;
    if (bytesLeft < burst) return allowance.refusal(key, "bytes", ((burst - bytesLeft) * 60_000) / perMinute);
    const text = `the request counts as more than ${burst} bytes, which is all that an app may send at once`;
    return new Failure("too_large", `${text}; send smaller batches`);
  }

  return {
    admit: ({ key }, bytes) => allowance.admit(key, bytes),
    async take(sent) {
      const { sender, signal } = sent;
      const { key } = sender;
      const rejected: Rejected = { rejected: 0, reasons: new Set() };
      const packed: Uint8Array[] = [];
      const onPart = (part: DecodedPart) => {
        if (part.signal === "logs") packed.push(part.packed);
        else if (part.signal === "traces") takeSpans(sender, part.spans, rejected);
        else {
          const read = { points: part.points, rejected: 0, reasons: rejected.reasons };
          takePoints(sender, read);
          rejected.rejected += read.rejected;
        }
      };
      const lane = { group: appKey(key), member: "" };
      const summary = await inTurn(lane, () => decoded(sent, onPart));
      if (packed.length > 0) {
        const app = { scope: key.scope, name: key.name };
        keepBounded(apps, { key: appKey(app), value: app }, limits.appsMax);
        await lines.add(appKey(app), packed, summary.charged);
      }
      const count = rejected.rejected + summary.rejected;
      if (count === 0) return { rejected: 0, message: "" };
      const why = [...summary.reasons, ...rejected.reasons].slice(0, reasonsMax).join("; ");
      tell(key, why);
      return { rejected: count, message: `${count} ${itemWord[signal]} not kept: ${why}` };
    },
    close: () => thread?.close(),
  };
}

interface Rejected {
  rejected: number;
  reasons: Set<string>;
}

const reasonsMax = 5;

function keepBounded<V>(map: Map<string, V>, { key, value }: { key: string; value: V }, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}
