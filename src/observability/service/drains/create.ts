import { doubledWait } from "../../../base/pure/doubling.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type Drain, DrainBody } from "../../api/log-drains.ts";
import type { Cursor } from "../../core/logs/cursor.ts";
import type { FoundLine, Level } from "../../core/logs/line.ts";
import { drainProblems, drainText } from "../../core/drains/target.ts";
import type { DrainRecord } from "../../store/log-drains.ts";
import type { ObservabilityContext } from "../context.ts";
import type { LogsRoom } from "../logs/create.ts";
import type { DrainOutside } from "./parts.ts";
import { sendBatch } from "./send.ts";

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
}

type Parts = Pick<ObservabilityContext, "store" | "clock" | "log">;

const readBody = schemaReader(DrainBody);

/**
 * Sends stored lines to other places. What was not delivered yet is no queue of its own but a place in the store, so a
 * drain that is away for hours costs nothing, and loses only what the store drops. Lines may come twice, after a crash.
 */
export function createDrainRoom(
  { store, clock, log }: Parts,
  logs: LogsRoom,
  outside: DrainOutside | undefined,
): DrainRoom {
  const progress = new Map<string, Progress>();
  const progressOf = (name: string) =>
    progress.get(name) ?? { failures: 0, error: undefined, nextAt: 0, isBehind: false };
  const view = (drain: DrainRecord) => viewOf(drain, progressOf(drain.name));
  const known = (name: string) => {
    const drain = store.drains.get(name);
    if (drain !== undefined) return drain;
    throw new Failure("not_found", `there is no drain "${name}"; list them with: berth drains`);
  };
  const ways = () => {
    if (outside !== undefined) return outside;
    throw new Failure("unavailable", "this server sends no lines anywhere");
  };

  /** One batch; whether there may be more. */
  async function deliver(drain: DrainRecord): Promise<boolean> {
    const { limits } = ways();
    const { cursor, apps, level, target, name } = drain;
    const query = {
      reach: apps,
      apps: [],
      until: clock.now() - limits.lagMs,
      ...(level === undefined ? {} : { level }),
    };
    const page = await logs.page({
      query,
      order: "asc",
      limit: limits.linesMax,
      cursor: `${cursor.at}.${cursor.skip}`,
    });
    const lines = within(page.lines, target.type === "s3" ? limits.objectBytes : limits.batchBytes);
    if (lines.length === 0) return false;
    await sendBatch(ways(), target, { lines, cursor });
    await store.write(({ drains }) => drains.advance(name, after(cursor, lines), lines.length));
    return lines.length < page.lines.length || page.cursor !== undefined;
  }

  /** Everything that waits for one drain, until it is done or fails. */
  async function work(name: string, signal: AbortSignal): Promise<void> {
    const { limits } = ways();
    try {
      for (let more = true; more && !signal.aborted;) {
        const drain = store.drains.get(name);
        if (drain === undefined) return;
        more = await deliver(drain);
        const pauseMs = drain.target.type === "s3" ? limits.objectMs : limits.lookMs;
        progress.set(name, {
          failures: 0,
          error: undefined,
          nextAt: clock.now() + (more ? 0 : pauseMs),
          isBehind: more,
        });
      }
    } catch (error) {
      const failures = progressOf(name).failures + 1;
      const text = error instanceof Failure ? error.message : "an error of the server itself; its log says more";
      if (failures === 1 || !(error instanceof Failure)) log.warn("a log drain fails", { drain: name, error });
      const waitMs = doubledWait({ firstMs: limits.retryMs, maxMs: limits.retryMaxMs }, failures);
      progress.set(name, { failures, error: text, nextAt: clock.now() + waitMs, isBehind: true });
    }
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
      };
      await store.write(({ drains }) => drains.put(drain));
      progress.delete(name);
      return view(known(name));
    },
    async remove(name) {
      const drain = view(known(name));
      await store.write(({ drains }) => drains.remove(name));
      progress.delete(name);
      return drain;
    },
    async test(name) {
      const { target } = known(name);
      const at = clock.now();
      try {
        await sendBatch(ways(), target, { lines: [testLine(at)], cursor: { at, skip: 0 } });
        return { delivered: true, result: `${drainText(target)} took a test line` };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return { delivered: false, result: error.message };
      }
    },
    async run(signal) {
      if (outside === undefined) return;
      const busy = new Map<string, Promise<void>>();
      while (!signal.aborted) {
        const now = clock.now();
        const state = store.drains.list().length === 0 ? undefined : await logs.state().catch(() => undefined);
        // While the server catches up, older lines are still to come.
        for (const { name } of state?.catching_up === false ? store.drains.list() : []) {
          const { nextAt } = progressOf(name);
          // A clock that was set back must not stop a drain for long.
          if (busy.has(name) || (nextAt > now && nextAt - now <= outside.limits.retryMaxMs)) continue;
          busy.set(
            name,
            work(name, signal).finally(() => busy.delete(name)),
          );
        }
        await clock.sleep(outside.limits.lookMs, signal);
      }
      await Promise.all(busy.values());
    },
  };
}

function within(lines: readonly FoundLine[], bytesMax: number): FoundLine[] {
  let bytes = 0;
  const end = lines.findIndex(({ text }) => {
    bytes += text.length + 200;
    return bytes > bytesMax;
  });
  return end < 0 ? [...lines] : lines.slice(0, Math.max(end, 1));
}

/** The place behind these lines. */
function after(before: Cursor, lines: readonly FoundLine[]): Cursor {
  const at = lines.at(-1)?.at ?? before.at;
  const same = lines.filter((line) => line.at === at).length;
  return { at, skip: same + (at === before.at ? before.skip : 0) };
}

function testLine(at: number): FoundLine {
  const source = { id: "test", pod: "test", replica: "", release: "", role: "" };
  return {
    app: { scope: "berth", name: "test" },
    at,
    source,
    stream: "berth",
    level: "info",
    text: "test line of berth",
  };
}

function viewOf(drain: DrainRecord, { failures, error, nextAt, isBehind }: Progress): Drain {
  const { name, target, apps, level, createdAt, cursor, delivered } = drain;
  return {
    name,
    type: target.type,
    target: drainText(target),
    apps,
    ...(level === undefined ? {} : { level }),
    created_at: new Date(createdAt).toISOString(),
    delivered_lines: delivered,
    delivered_until: new Date(cursor.at).toISOString(),
    state: failures > 0 ? "failing" : isBehind ? "behind" : "waiting for lines",
    failures,
    ...(error === undefined ? {} : { last_error: error }),
    ...(failures > 0 ? { next_at: new Date(nextAt).toISOString() } : {}),
  };
}
