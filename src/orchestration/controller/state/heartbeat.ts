import type { SteadyClock } from "../../../base/words/clock.ts";

interface HeartbeatOptions {
  /** Resolves when the engine answers; rejects when it cannot be reached, or when the signal aborts. */
  ping: (signal: AbortSignal) => Promise<void>;
  clock: SteadyClock;
  everyMs: number;
  /** How long a ping may take. */
  silenceMs: number;
}

interface Heartbeat {
  /** One ping: whether it was answered in time, which is `silenceMs` unless said otherwise. Rejects as `ping` does. */
  answers(signal: AbortSignal, limitMs?: number): Promise<boolean>;
  /** Pings again and again. Resolves when a ping is not answered in time, or `signal` aborts; rejects as `ping` does. */
  follow(signal: AbortSignal): Promise<void>;
  /** How long ago the last answer came, milliseconds; before the first one, how long ago the first ping was sent. */
  silentMs(): number;
}

/**
 * The time of a ping is counted in parts: after the server itself, or its machine, was stopped for a while, all timers are
 * due at once, and an answer that has come meanwhile must be read before they end the wait.
 */
const parts = 10;

/** Tells an engine that hangs from one that is slow. */
export function createHeartbeat({ ping, clock, everyMs, silenceMs }: HeartbeatOptions): Heartbeat {
  let heardAt: number | undefined;

  async function answers(signal: AbortSignal, limitMs = silenceMs): Promise<boolean> {
    heardAt ??= clock.steady();
    const over = new AbortController();
    const ends = AbortSignal.any([signal, over.signal]);
    const answered = ping(ends).then(() => true);
    // No code awaits it once the time has passed.
    answered.catch(() => undefined);
    try {
      const isAnswered = await Promise.race([answered, passed(limitMs, ends)]);
      if (isAnswered) heardAt = clock.steady();
      return isAnswered;
    } finally {
      over.abort();
    }
  }

  async function passed(limitMs: number, signal: AbortSignal): Promise<false> {
    for (let part = 0; part < parts && !signal.aborted; part++) await clock.sleep(limitMs / parts, signal);
    return false;
  }

  return {
    answers,
    async follow(signal) {
      while (!signal.aborted) {
        await clock.sleep(everyMs, signal);
        if (signal.aborted || !(await answers(signal))) return;
      }
    },
    silentMs: () => (heardAt === undefined ? 0 : clock.steady() - heardAt),
  };
}
