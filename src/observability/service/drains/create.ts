import { unlessAborted } from "../../../base/words/abort.ts";
import { doubledWait } from "../../../base/pure/doubling.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure, problemsFailure, shownCause } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type Drain, DrainBody } from "../../api/log-drains.ts";
import { batchOf } from "../../core/drains/batch.ts";
import type { Level } from "../../core/logs/line.ts";
import { drainProblems, drainText } from "../../core/drains/target.ts";
import type { DrainRecord } from "../../store/log-drains.ts";
import type { ObservabilityContext } from "../context.ts";
import type { LogsRoom } from "../logs/create.ts";
import { createDeliverer, type Deliverer, testLine } from "./deliver.ts";
import type { DrainOutside } from "./parts.ts";
import { sendBatch } from "./send.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

export interface DrainRoom {
  list(): Drain[];
  /** Fails `invalid` with the path of each fault. */
  put(name: string, body: unknown): Promise<Drain>;
  /** Fails `not_found`. */
  remove(name: string): Promise<Drain>;
  test(name: string): Promise<{ delivered: boolean; result: string }>;
  run(signal: AbortSignal): Promise<void>;
}

/** What became of the last attempt. */
interface Progress {
  failures: number;
  error: string | undefined;
  /** Epoch milliseconds. */
  nextAt: number;
  isBehind: boolean;
  /** Time of the oldest line that waits; epoch milliseconds. */
  oldestAt: number | undefined;
}

interface Trouble extends Pick<Progress, "oldestAt" | "error"> {
  /** How long the other side asks to wait. */
  waitMs: number | undefined;
}

type Parts = Pick<ObservabilityContext, "store" | "clock" | "log">;

const readBody = schemaReader(DrainBody);

/**
 * Sends stored lines to other places. What was not delivered yet is not a queue but a place in the store, so a
 * drain that is away for hours costs nothing, and loses only what the store drops. Lines may come twice, after a crash.
 */
export function createDrainRoom(
  { store, clock, log }: Parts,
  logs: LogsRoom,
  outside: DrainOutside | undefined,
): DrainRoom {
  const progress = new Map<string, Progress>();
  let added = Promise.withResolvers<void>();
  const progressOf = (name: string) =>
    progress.get(name) ?? { failures: 0, error: undefined, nextAt: 0, isBehind: false, oldestAt: undefined };
  const view = (drain: DrainRecord) => viewOf(drain, progressOf(drain.name));
  const known = (name: string) => {
    const drain = store.drains.get(name);
    if (drain !== undefined) return drain;
    throw new Failure("not_found", `there is no drain "${name}"; list them with: berth drains`);
  };
  const deliverer = outside && createDeliverer({ store, clock, logs, outside });
  const forget = (name: string) => {
    progress.delete(name);
    deliverer?.forget(name);
  };
  const ways = () => {
    if (outside !== undefined) return outside;
    throw new Failure("unavailable", "this server sends no lines anywhere");
  };

  /** Everything that waits for one drain, until it is done or fails. */
  async function work(deliverer: Deliverer, name: string, signal: AbortSignal): Promise<void> {
    const { limits } = ways();
    try {
      for (let more = true; more && !signal.aborted;) {
        const drain = store.drains.get(name);
        if (drain === undefined) return;
        const { oldestAt, declined, ...made } = await deliverer.next(drain);
        if (declined !== undefined) {
          if (progressOf(name).failures === 0) log.warn("a log drain fails", { drain: name, error: declined.text });
          return failed(name, { oldestAt, error: declined.text, waitMs: declined.waitMs });
        }
        more = made.more;
        const pauseMs = drain.target.type === "s3" ? limits.objectMs : limits.lookMs;
        const nextAt = clock.now() + (more ? 0 : pauseMs);
        progress.set(name, { failures: 0, error: undefined, nextAt, isBehind: more, oldestAt });
      }
    } catch (error) {
      const text = shownCause(error);
      if (progressOf(name).failures === 0 || !(error instanceof Failure))
        log.warn("a log drain fails", { drain: name, error });
      failed(name, { oldestAt: progressOf(name).oldestAt, error: text, waitMs: undefined });
    }
  }

  function failed(name: string, { waitMs = 0, ...trouble }: Trouble): void {
    const { limits } = ways();
    const failures = progressOf(name).failures + 1;
    const pauseMs = doubledWait({ firstMs: limits.retryMs, maxMs: limits.retryMaxMs }, failures);
    const nextAt = clock.now() + Math.max(pauseMs, Math.min(waitMs, limits.retryAfterMaxMs));
    progress.set(name, { ...trouble, failures, nextAt, isBehind: true });
  }

  return {
    list: () => store.drains.list().map(view),
    async put(name, given) {
      const body = readBody(given);
      const problems = drainProblems(name, body);
      if (problems.length > 0) throw problemsFailure(problems);
      const { drainsMax } = ways().limits;
      if (store.drains.get(name) === undefined && store.drains.list().length >= drainsMax)
        throw new Failure("conflict", `there are ${drainsMax} drains, which is the most: remove one first`);
      const now = clock.now();
      const { target, apps = [], level } = body;
      const drain = {
        name,
        target,
        apps,
        level: level as Level | undefined,
        createdAt: now,
        cursor: { at: now, skip: 0 },
        delivered: 0,
        refused: 0,
        lastRefused: undefined,
      };
      await store.write(({ drains }) => drains.put(drain));
      added.resolve();
      forget(name);
      return view(known(name));
    },
    async remove(name) {
      const drain = view(known(name));
      await store.write(({ drains }) => drains.remove(name));
      forget(name);
      return drain;
    },
    async test(name) {
      const { target } = known(name);
      const { hostname, limits } = ways();
      const now = clock.now();
      const batch = batchOf([testLine(now)], { target, hostname, bytesMax: limits.batchBytes });
      const declined = await sendBatch(ways(), { target, batch, cursor: { at: now, skip: 0 }, now });
      if (declined !== undefined) return { delivered: false, result: declined.text };
      return { delivered: true, result: `${drainText(target)} took a test line` };
    },
    async run(signal) {
      if (outside === undefined || deliverer === undefined) return;
      const busy = new Map<string, Promise<void>>();
      while (!signal.aborted) {
        // Nothing is due before there is a drain.
        if (store.drains.list().length === 0) {
          added = Promise.withResolvers();
          await unlessAborted(added.promise, signal);
        }
        const now = clock.now();
        const state = await logs.state().catch(() => undefined);
        // While the server catches up, older lines are still to come.
        for (const { name } of state?.catching_up === false ? store.drains.list() : []) {
          const { nextAt } = progressOf(name);
          // A clock that was set back must not stop a drain for long.
          if (busy.has(name) || (nextAt > now && nextAt - now <= outside.limits.retryAfterMaxMs)) continue;
          busy.set(
            name,
            work(deliverer, name, signal).finally(() => busy.delete(name)),
          );
        }
        await sleepAbout(clock, outside.limits.lookMs, signal);
      }
      await Promise.all(busy.values());
    },
  };
}

function viewOf(drain: DrainRecord, { failures, error, nextAt, isBehind, oldestAt }: Progress): Drain {
  const { name, target, apps, level, createdAt, cursor, delivered, refused, lastRefused } = drain;
  return {
    name,
    type: target.type,
    target: drainText(target),
    apps,
    ...(level === undefined ? {} : { level }),
    created_at: isoTime(createdAt),
    delivered_lines: delivered,
    delivered_until: isoTime(cursor.at),
    state: failures > 0 ? "failing" : isBehind ? "behind" : "waiting for lines",
    failures,
    refused_lines: refused,
    ...(lastRefused === undefined ? {} : { last_refused: { ...lastRefused, at: isoTime(lastRefused.at) } }),
    ...(oldestAt === undefined ? {} : { oldest_waiting_at: isoTime(oldestAt) }),
    ...(error === undefined ? {} : { last_error: error }),
    ...(failures > 0 ? { next_at: isoTime(nextAt) } : {}),
  };
}
