import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey } from "../../../orchestration/api/manifest.ts";
import { appKey } from "../../core/logs/line.ts";
import { type Bucket, type Rate, takeMany } from "../../core/tokens/bucket.ts";
import type { TelemetryNotes } from "./notes.ts";

interface AllowanceParts {
  rates: Record<"requests" | "bytes", Rate>;
  /** With less than this left, no request is begun. */
  leastBytes: number;
  appsMax: number;
  notes: TelemetryNotes;
  clock: SteadyClock;
  log: Log;
}

/** What apps may still send. In memory: a restart forgets it. */
interface Allowance {
  /**
   * Takes one request, and the bytes that it says it has. Fails `too_many` where one of both is spent; nothing is taken
   * then.
   */
  admit(app: ManifestKey, bytes: number): void;
  bytesLeft(app: ManifestKey): number;
  /** Takes bytes that were sent, at most what is left; gives back less than none. */
  spend(app: ManifestKey, bytes: number): void;
  /** The answer for an app that has sent too much of one of the two. */
  refusal(app: ManifestKey, what: "requests" | "bytes", waitMs: number): Failure;
}

export function createAllowance({ rates, leastBytes, appsMax, notes, clock, log }: AllowanceParts): Allowance {
  const buckets = new Map<string, Bucket>();

  const look = (what: "requests" | "bytes", app: ManifestKey, count: number) =>
    takeMany(buckets.get(`${what} ${appKey(app)}`), rates[what], { now: clock.steady(), count });

  const put = (what: "requests" | "bytes", app: ManifestKey, bucket: Bucket) => {
    const key = `${what} ${appKey(app)}`;
    buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.size > 2 * appsMax ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
  };

  const refusal = (app: ManifestKey, what: "requests" | "bytes", waitMs: number): Failure => {
    const { burst, perMinute } = rates[what];
    const text = `${appKey(app)} sends too many ${what}: ${burst} at once and ${perMinute} a minute are allowed`;
    if (notes.add(app, text)) log.warn("telemetry of an app is not kept", { app: appKey(app), reason: text });
    return new Failure("too_many", text, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
  };

  return {
    refusal,
    admit(app, count) {
      const requests = look("requests", app, 1);
      if (requests.waitMs !== undefined) throw refusal(app, "requests", requests.waitMs);
      const least = look("bytes", app, Math.max(count, leastBytes));
      if (least.waitMs !== undefined) throw refusal(app, "bytes", least.waitMs);
      put("requests", app, requests.bucket);
      put("bytes", app, look("bytes", app, count).bucket);
    },
    bytesLeft: (app) => Math.floor(look("bytes", app, 0).bucket.tokens),
    spend(app, count) {
      const left = look("bytes", app, 0).bucket.tokens;
      put("bytes", app, look("bytes", app, Math.min(count, left)).bucket);
    },
  };
}
