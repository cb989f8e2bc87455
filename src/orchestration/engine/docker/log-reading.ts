import { setImmediate as nextTurn } from "node:timers/promises";
import { type LogFile, openLogFile } from "../../../base/machine/log-file.ts";
import { createLogWalk, type LogSearch, type LogWalk } from "../../../base/machine/log-walk.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { InspectedPod } from "../pod.ts";
import type { LogOptions } from "../session.ts";
import { createLogText, type LogText } from "./log-text.ts";
import { createLookout } from "./lookout.ts";
import { quickEntryOf, readEntry } from "../../../base/pure/docker-entry.ts";

const blockBytes = 64 * 1024;
const lineBreak = 10;

/** Where the last `count` lines begin in files that are ordered oldest first. A line that has no end yet counts as one. */
export function* lastLinesAt(files: readonly LogFile[], count: number): LogSearch {
  let left = count;
  let isLast = true;
  for (const [index, file] of [...files.entries()].reverse()) {
    const unpacking = file.ready();
    if (unpacking !== undefined) yield unpacking;
    for (const entry of entriesBackwards(file)) {
      if (entry === undefined) {
        yield;
        continue;
      }
      const { bytes, end } = entry;
      if (isLast || endsLine(bytes)) {
        if (left === 0) return { index, offset: end };
        left -= 1;
      }
      isLast = false;
    }
    file.rest();
  }
  return undefined;
}

interface BackEntry {
  bytes: Buffer;
  /** Behind its line break, in the file. */
  end: number;
}

/** Complete entries of a file, the last one first, and undefined after each block. What is written meanwhile is not among them. */
function* entriesBackwards(file: LogFile): Generator<BackEntry | undefined> {
  let from = file.size();
  let rest: Buffer = Buffer.alloc(0);
  /** Whether a line break follows the bytes in `rest`. */
  let isComplete = false;
  while (from > 0) {
    const block = Buffer.alloc(Math.min(blockBytes, from));
    from -= block.length;
    const count = file.read(block, from);
    rest = Buffer.concat([block.subarray(0, count), rest]);
    for (let at = rest.lastIndexOf(lineBreak); at >= 0; at = rest.lastIndexOf(lineBreak)) {
      if (isComplete) yield { bytes: rest.subarray(at + 1), end: from + rest.length + 1 };
      isComplete = true;
      rest = rest.subarray(0, at);
    }
    yield undefined;
  }
  if (isComplete) yield { bytes: rest, end: rest.length + 1 };
}

function endsLine(bytes: Buffer): boolean {
  return (quickEntryOf(bytes, 0, bytes.length) ?? readEntry(bytes, 0, bytes.length))?.isEnd ?? false;
}

/** Read in one turn of the event loop. */
const stepBytes = 64 * 1024;
/** A line whose end does not come holds up those of the other stream for so long. */
const partialMs = 2_000;

/** Why the log files of a container cannot be read from here; undefined where they can. */
export function whyNoFiles({ logPath }: Pick<InspectedPod, "logPath">): string | undefined {
  if (logPath === undefined) return "the log driver of the container keeps no files in the format json-file";
  try {
    const file = openLogFile(logPath);
    file?.close();
    return file === undefined ? "the folder of Docker is not on this machine" : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface LogFilesReading extends LogOptions {
  /** Path of the file that Docker writes. */
  path: string;
  signal: AbortSignal;
  /** Resolves when the run that is followed has ended; rejects where that is not known any more. Asked only when following. */
  ended(signal: AbortSignal): Promise<void>;
}

/**
 * The log of a container from Docker's files: each line once and in order, also where Docker changes files. Lines that
 * Docker deleted before they could be read are named in a line of their own.
 */
export async function* readLogFiles({ path, signal, ended, ...options }: LogFilesReading): AsyncGenerator<Uint8Array> {
  const text = createLogText(options);
  const { follow, tail } = options;
  const walk = createLogWalk({
    path,
    isPresentOnly: !follow,
    isBeside: true,
    begin: (files) => (tail === undefined ? undefined : lastLinesAt(files, tail)),
    onEntry: text.push,
    onLost: text.lost,
  });
  try {
    yield* follow ? followed({ walk, text, path }, ended, signal) : present({ walk, text }, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Failure) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure("unavailable", `the log files of Docker cannot be read: ${why}`, { cause: error });
  } finally {
    walk.close();
  }
}

interface Reader {
  walk: LogWalk;
  text: LogText;
}

async function* present({ walk, text }: Reader, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let isOver = false; !isOver && !signal.aborted;) {
    isOver = walk.step(stepBytes);
    if (isOver) text.giveUp();
    const bytes = text.take();
    if (bytes.length > 0) yield bytes;
    else await (walk.waits() ?? nextTurn());
  }
}

async function* followed(
  { walk, text, path }: Reader & { path: string },
  ended: LogFilesReading["ended"],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const left = new AbortController();
  const lookout = createLookout(path, walk);
  signal.addEventListener("abort", lookout.ring, { once: true });
  const patience = createPatience(text);
  let over: { error?: unknown } | undefined;
  void ended(AbortSignal.any([signal, left.signal]))
    .then(
      () => (over = {}),
      (error: unknown) => (over = { error }),
    )
    .finally(lookout.ring);
  try {
    while (!signal.aborted) {
      // What was written before the end was seen is in the files by now.
      const isLast = over !== undefined;
      const isDone = walk.step(stepBytes);
      if ((isDone && isLast) || patience.isOver()) text.giveUp();
      const bytes = text.take();
      if (bytes.length > 0) yield bytes;
      else if (!isDone) await (walk.waits() ?? nextTurn());
      else if (isLast) break;
      else await lookout.changed(patience.leftMs());
    }
    if (over?.error !== undefined && !signal.aborted) throw over.error;
  } finally {
    signal.removeEventListener("abort", lookout.ring);
    lookout.close();
    left.abort();
  }
}

/** How long lines have waited for the end of one of the other stream; what comes meanwhile does not prolong that. */
function createPatience({ isWaiting }: Pick<LogText, "isWaiting">) {
  let until: number | undefined;
  const leftMs = () => {
    if (isWaiting()) until ??= performance.now() + partialMs;
    else until = undefined;
    return until === undefined ? undefined : until - performance.now();
  };
  return { leftMs, isOver: () => (leftMs() ?? 1) <= 0 };
}
