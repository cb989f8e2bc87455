import { createWaker } from "../../../base/words/abort.ts";
import { formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { problemsFailure } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type Heartbeat, HeartbeatBody } from "../../api/alert-heartbeat.ts";
import { durationProblems } from "../../core/alerts/rules.ts";
import { hostOf, urlProblems } from "../../core/alerts/target-text.ts";
import type { HeartbeatRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";

export interface HeartbeatRoom {
  view(): Heartbeat;
  /** Fails `invalid` with the path of each fault. */
  put(body: unknown): Promise<Heartbeat>;
  remove(): Promise<Heartbeat>;
  /** Pings until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Pings {
  lastAt?: number;
  lastOkAt?: number;
  result?: string;
  failures: number;
  held: boolean;
}

const readBody = schemaReader(HeartbeatBody);

/** `isAlive`: whether the alerts are evaluated. A ping that goes out although they are not would be a lie. */
export function createHeartbeat(parts: AlertParts, isAlive: () => boolean): HeartbeatRoom {
  const { store, clock, limits } = parts;
  let pings: Pings = { failures: 0, held: false };
  const waker = createWaker();
  const view = () => viewOf(store.settings.heartbeat(), pings);
  const change = async (heartbeat: HeartbeatRecord | undefined) => {
    await store.write(({ settings }) => settings.putHeartbeat(heartbeat));
    pings = { failures: 0, held: false };
    waker.wake();
    return view();
  };

  async function beat({ url }: HeartbeatRecord, signal: AbortSignal): Promise<void> {
    const before = pings;
    const held = !isAlive();
    if (held) {
      pings = { ...before, held, result: "the alerts are not evaluated, see the log" };
      return;
    }
    const result = await ping(parts, url, signal);
    // It was set otherwise meanwhile.
    if (signal.aborted || pings !== before) return;
    const lastAt = clock.now();
    const isOk = result === "ok";
    pings = {
      ...before,
      held,
      lastAt,
      result,
      failures: isOk ? 0 : before.failures + 1,
      ...(isOk ? { lastOkAt: lastAt } : {}),
    };
  }

  return {
    view,
    put(given) {
      const body = readBody(given);
      const problems = [...urlProblems("url", body.url), ...durationProblems("every", body.every)];
      const everyMs = body.every === undefined ? limits.heartbeatMs : (parseDuration(body.every) ?? 0);
      if (problems.length === 0 && everyMs < limits.heartbeatLeastMs) {
        problems.push({ path: "every", message: `must be at least ${formatDuration(limits.heartbeatLeastMs)}` });
      }
      if (problems.length > 0) throw problemsFailure(problems);
      return change({ url: body.url, everyMs });
    },
    remove: () => change(undefined),
    async run(signal) {
      while (!signal.aborted) {
        const stirred = waker.round(signal);
        const heartbeat = store.settings.heartbeat();
        if (heartbeat === undefined) {
          await clock.sleep(limits.heartbeatMs, stirred);
          continue;
        }
        await beat(heartbeat, signal);
        const isFailing = pings.failures > 0 || pings.held;
        await clock.sleep(
          isFailing ? Math.min(heartbeat.everyMs, limits.heartbeatRetryMs) : heartbeat.everyMs,
          stirred,
        );
      }
    },
  };
}

/** `ok`, or why not; the text holds nothing of the address. */
async function ping({ ping: fetch, product }: AlertParts, url: string, signal: AbortSignal): Promise<string> {
  try {
    const { status } = await fetch({ method: "GET", url, headers: { "User-Agent": product } }, signal);
    return status >= 200 && status < 300 ? "ok" : `status ${status}`;
  } catch (error) {
    return error instanceof Error ? error.message : "failed";
  }
}

function viewOf(heartbeat: HeartbeatRecord | undefined, pings: Pings): Heartbeat {
  if (heartbeat === undefined) return { enabled: false, state: "off", failures: 0 };
  const { lastAt, lastOkAt, result, failures, held } = pings;
  const state = held ? "held" : lastAt === undefined ? "waiting" : failures === 0 ? "ok" : "failing";
  return {
    enabled: true,
    target: hostOf(heartbeat.url),
    every: formatDuration(heartbeat.everyMs),
    state,
    failures,
    ...(lastAt === undefined ? {} : { last_at: isoTime(lastAt) }),
    ...(lastOkAt === undefined ? {} : { last_ok_at: isoTime(lastOkAt) }),
    ...(result === undefined ? {} : { result }),
  };
}
