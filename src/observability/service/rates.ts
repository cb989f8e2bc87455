import { clientNetwork } from "../../base/pure/client-network.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Bucket, takeFrom } from "../core/tokens/bucket.ts";
import type { Grant } from "../core/tokens/grant.ts";
import type { ObservabilityContext } from "./context.ts";

/** In memory: a restart forgets them. Each fails `too_many` with the seconds to wait. */
export interface Rates {
  /** Counts one request of a token, and once more one that changes something, or says what it would change. */
  request(grant: Pick<Grant, "id" | "session">, what: "read" | "plan" | "change"): void;
  /** Whether one more refused request of a token goes on record: a flood of them would push older entries out. */
  isRecorded(grant: Pick<Grant, "id">): boolean;
  /** Fails for a client that has sent too many wrong tokens; counts nothing. */
  checkClient(ip: string): void;
  /** Counts a wrong token of a client. */
  failed(ip: string): void;
}

export function createRates({ clock, limits }: Pick<ObservabilityContext, "clock" | "limits">): Rates {
  const { rates } = limits;
  const buckets = new Map<string, Bucket>();
  const put = (key: string, bucket: Bucket) => {
    buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.size > rates.keysMax ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
  };
  const take = (kind: "actions" | "clicks" | "reads" | "failures" | "refusals", who: string): number | undefined => {
    const key = `${kind} ${who}`;
    const { bucket, waitMs } = takeFrom(buckets.get(key), rates[kind], clock.steady());
    put(key, bucket);
    return waitMs;
  };
  return {
    request({ id, session }, what) {
      const rows = [
        { of: "read", words: "requests", kind: "reads", who: id },
        // Who looks at plans has not acted: a person looks at several before one is carried out.
        { of: "plan", words: "plans", kind: "clicks", who: `plans ${id}` },
        { of: "change", words: "actions", kind: session === undefined ? "actions" : "clicks", who: id },
      ] as const;
      for (const { words, kind, who } of rows.filter(({ of }) => of === "read" || of === what)) {
        const waitMs = take(kind, who);
        if (waitMs !== undefined) throw tooMany(words, rates[kind], waitMs);
      }
    },
    isRecorded: ({ id }) => take("refusals", id) === undefined,
    checkClient(ip) {
      const bucket = buckets.get(`failures ${clientNetwork(ip).near}`);
      const { waitMs } = takeFrom(bucket, rates.failures, clock.steady());
      if (waitMs !== undefined) throw tooMany("wrong tokens from this address", rates.failures, waitMs);
    },
    failed: (ip) => void take("failures", clientNetwork(ip).near),
  };
}

function tooMany(what: string, { burst, perMinute }: { burst: number; perMinute: number }, waitMs: number): Failure {
  const text = `too many ${what}: ${burst} at once and ${perMinute} a minute are allowed, try again later`;
  return new Failure("too_many", text, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
}
