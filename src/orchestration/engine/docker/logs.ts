import { Failure } from "../../../base/wire/failure.ts";
import type { Engine } from "../engine.ts";
import type { LogOptions } from "../session.ts";
import type { InspectedPod } from "../pod.ts";
import type { DockerClient } from "./client.ts";
import type { Inspect } from "./containers.ts";
import { missing, unreachable } from "./errors.ts";
import { readLogFiles, whyNoFiles } from "./log-reading.ts";
import { type LogSource, readLog } from "./log-stream.ts";
import { createSeen, type Seen } from "./seen.ts";
import { systemClock } from "../../../base/words/clock.ts";
import { isPassing, nextStop } from "./exit-wait.ts";

/** How long one question to the engine stays open before the state is read again. */
const holdMs = 300_000;
/** Between two questions to an engine that is away. */
const retryMs = 1_000;

/** Resolves when `run` of a container has ended, also where the container runs again or is gone. The engine may be away meanwhile. */
async function runEnd(
  { engine, inspect }: LogSource,
  { id, startedAt }: Pick<InspectedPod, "id" | "startedAt">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const container = await inspect(id);
      const runs = container?.state === "running" || container?.state === "paused";
      if (!runs || container.startedAt !== startedAt) return;
      await engine.call(
        { verb: "wait for", subject: `container "${container.name}"` },
        (docker, own) => nextStop(docker, id, AbortSignal.any([own, signal])),
        holdMs,
      );
    } catch (error) {
      if (signal.aborted) return;
      if (engine.closed.aborted) throw unreachable("the connection was closed", error);
      if (!isPassing(error)) throw error;
      await systemClock.sleep(retryMs, AbortSignal.any([signal, engine.closed]));
    }
  }
}

/** Called once for each reason why logs are not read from Docker's files. */
export type OnLogFallback = (why: string, container: string) => void;

/**
 * See `Engine.logs`. The files of the driver json-file are read by their places, which is exact. Where there are none to
 * read, the engine is asked, which can repeat and lose lines where it changes files.
 */
export function createLogs(
  engine: DockerClient,
  inspect: Inspect,
  onFallback: OnLogFallback = () => undefined,
): Pick<Engine, "logs"> {
  const told = new Set<string>();
  const tell = (why: string, { name }: InspectedPod) => {
    if (told.has(why) || told.size >= reasonsMax) return;
    told.add(why);
    onFallback(why, name);
  };
  return {
    async *logs({ id: nameOrId }, options, signal) {
      if (signal.aborted) return;
      const source = { engine, inspect, nameOrId };
      const container = await inspect(nameOrId);
      if (container === undefined) throw missing(`container "${nameOrId}"`);
      const { logPath: path = "", startedAt } = container;
      const why = engine.local ? whyNoFiles(container) : "the engine is on another machine";
      if (why === undefined) {
        const ended = (until: AbortSignal) => runEnd(source, container, until);
        return yield* readLogFiles({ ...options, path, signal, ended });
      }
      // A container that was never started has no files anywhere.
      if (startedAt !== undefined) tell(why, container);
      yield* fromEngine(source, options, signal);
    },
  };
}

/** Each names a path at most. */
const reasonsMax = 20;

/**
 * The engine drops a follower when the container ends, or when a log file is full, before it has read all of a
 * flood, and ends its answer as if that were all. So a follower is brought on from where it was. What the engine itself
 * skips of a flood where it changes files is lost: nothing tells of it.
 */
async function* fromEngine(source: LogSource, options: LogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const seen = createSeen();
  let startedAt: number | undefined;
  const reading = readLog(source, options, {
    signal,
    onContainer: (container) => {
      startedAt = container.startedAt;
    },
  });
  for await (const bytes of reading) {
    seen.add(bytes);
    yield bytes;
  }
  if (options.follow) yield* rest(source, options, { seen, startedAt, signal });
}

interface Following {
  seen: Seen;
  /** Start of the run that is followed. */
  startedAt: number | undefined;
  signal: AbortSignal;
}

/** Answers that bring nothing new before a follower gets the error that there is no progress. */
const idleMax = 3;
const idleMs = 100;
/** How long it may take until all that was seen has come once more. */
const catchUpMs = 10_000;

async function* rest(source: LogSource, options: LogOptions, following: Following): AsyncGenerator<Uint8Array> {
  const { seen, startedAt, signal } = following;
  for (let idle = 0; idle < idleMax && !signal.aborted; idle++) {
    const container = await source.inspect(source.nameOrId);
    const isRunning = container?.state === "running";
    // Removed, or another run: a follower of that one starts again.
    if (container === undefined || (isRunning && container.startedAt !== startedAt)) return;
    if (!isRunning) return yield* end(source, { ...options, follow: false }, following);
    const before = seen.bytes();
    if (!(yield* behind(source, options, following))) break;
    if (seen.bytes() > before) idle = -1;
    else await Bun.sleep(idleMs);
  }
  if (!signal.aborted) throw letGo(source);
}

/** The rest of a container that has ended; nothing where it was removed meanwhile, or has rotated away what was seen. */
async function* end(source: LogSource, options: LogOptions, following: Following): AsyncGenerator<Uint8Array> {
  const { seen, signal } = following;
  if (options.tail !== undefined) return;
  try {
    const last = Buffer.concat(await Array.fromAsync(readLog(source, { ...options, tail: lastLines }, { signal })));
    if (repeats(last) || !seen.endsWith(last)) yield* behind(source, options, following);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
  }
}

/** So many lines tell whether the end was seen. */
const lastLines = 32;

/** Whether the last line is among those before it: then what was seen may end like the whole and be a part of it. */
function repeats(lines: Buffer): boolean {
  const all = lines.toString("latin1").replace(/\n$/, "").split("\n");
  const last = all.pop();
  return last !== undefined && all.includes(last);
}

/**
 * Reads from the beginning, and hands on what comes behind what was seen. False where what was seen is not there any
 * more, so that it is not known what comes behind it.
 */
async function* behind(
  source: LogSource,
  options: LogOptions,
  { seen, signal }: Following,
): AsyncGenerator<Uint8Array, boolean> {
  // Where a number of lines was asked for, the beginning is another one every time.
  if (options.tail !== undefined) return false;
  const again = seen.again();
  const late = new AbortController();
  // A reading that does not follow ends by itself.
  const timer = options.follow ? setTimeout(() => late.abort(), catchUpMs) : undefined;
  try {
    for await (const bytes of readLog(source, options, { signal: AbortSignal.any([signal, late.signal]) })) {
      const fresh = again.behind(bytes);
      if (fresh === undefined) return false;
      if (again.caughtUp()) clearTimeout(timer);
      seen.add(fresh);
      if (fresh.length > 0) yield fresh;
    }
  } finally {
    clearTimeout(timer);
  }
  return again.caughtUp();
}

function letGo({ nameOrId }: LogSource): Failure {
  return new Failure("unavailable", `docker ended the log of container "${nameOrId}"; read on from its last line`);
}
