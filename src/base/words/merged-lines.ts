import { unlessAborted } from "./abort.ts";
import type { Log } from "./log.ts";
import { createFresh, millisecondsOf, type Told } from "./fresh-lines.ts";
import { createTimedLines } from "./timed-lines.ts";

/** How the output of one container is read. */
interface Reading {
  follow: boolean;
  /** Last lines; undefined for all, 0 for none. */
  tail: number | undefined;
  /** Epoch milliseconds. */
  since: number | undefined;
  timestamps: boolean;
  signal: AbortSignal;
}

/** A container with output. */
export interface LineSource {
  name: string;
  /** When the present run began, in epoch milliseconds; undefined while that is not known. */
  startedAt: number | undefined;
}

interface Merging {
  sources: readonly LineSource[];
  reading: Reading;
  /** Always asked for times. */
  open(name: string, reading: Reading): Promise<AsyncIterable<Uint8Array>>;
  /** Tells of sources that were not there at the beginning, or began another run; only asked while following. */
  later: { sources(): Promise<readonly LineSource[]>; subscribe(listener: () => void): () => void };
  log: Log;
}

/** Longer lines go out in pieces. */
export const lineBytesMax = 1024 * 1024;

/** What waits for a slow client, in bytes; the sources are not read on meanwhile. */
const waitingBytesMax = 256 * 1024;

/** Where a source is. */
interface Reader {
  startedAt: number | undefined;
  isOver: boolean;
  told: Told;
}

/**
 * The output of many containers in one stream, line by line as it comes, with `[NAME] ` in front. Without `follow` the
 * stream ends with the last of them. With it, the stream goes on until the signal of the reading aborts: a container
 * that comes later joins in, and one that begins another run is read on from the last line that was handed out.
 */
export function mergedLines({ sources, reading, open, later, log }: Merging): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const signal = AbortSignal.any([reading.signal, left.signal]);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: waitingBytesMax,
    size: (bytes) => bytes?.length ?? 0,
  });
  const writer = writable.getWriter();
  writer.closed.catch(() => left.abort());
  const write = async (bytes: Uint8Array) => {
    if (bytes.length === 0) return;
    // If nothing was read yet, nothing tells the sources to end.
    await unlessAborted(
      writer.ready.then(() => writer.write(bytes)),
      signal,
    );
    signal.throwIfAborted();
  };
  const pump = async (name: string, options: Reading, told: Told) => {
    try {
      const lines = createTimedLines({ prefix: prefixOf(name), timestamps: reading.timestamps, lineBytesMax });
      const fresh = createFresh(told);
      for await (const bytes of await open(name, options)) await write(fresh(lines.push(bytes)));
      await write(fresh(lines.rest()));
    } catch (error) {
      if (signal.aborted) return;
      log.warn("log stream broke off", { pod: name, error });
      await write(brokenLine(name, error));
    }
  };
  const readers = new Map<string, Reader>();
  const bell = createBell(signal);
  const read = async ({ name, startedAt }: LineSource, options: Reading) => {
    const told = readers.get(name)?.told ?? { at: "", count: 0 };
    const reader: Reader = { startedAt, isOver: false, told };
    readers.set(name, reader);
    await pump(name, { ...options, timestamps: true, signal }, told).catch(() => undefined);
    reader.isOver = true;
    // It may have begun its next run before this one was read to its end.
    bell.ring();
  };
  const join = async () => {
    for (const source of await later.sources()) {
      const since = sinceOf(source, readers.get(source.name), reading);
      if (since !== "read") void read(source, { ...reading, tail: undefined, since });
    }
  };
  const all = sources.map((source) => read(source, reading));
  const run = async () => {
    if (!reading.follow) return void (await Promise.all(all));
    const leave = later.subscribe(bell.ring);
    try {
      // The engine may be away for a moment; the next change looks again.
      while (await bell.rung()) await join().catch(() => undefined);
    } finally {
      leave();
    }
  };
  run()
    .catch((error: unknown) => {
      if (!signal.aborted) log.warn("log streams broke off", { error });
    })
    .finally(() => writer.close().catch(() => undefined));
  return readable;
}

/** The engine notes the start of a run when the run may have written for a moment already. */
const earlierMs = 1_000;

/** From where a source is to be read that was listed while following; `read` where it is, or was to its end. */
function sinceOf({ startedAt }: LineSource, reader: Reader | undefined, { tail, since }: Reading) {
  if (reader === undefined) return since;
  // An earlier start is one after the clock was set back.
  if (!reader.isOver || startedAt === undefined || startedAt === reader.startedAt) return "read";
  const { at } = reader.told;
  // Where only the last lines were asked for, no line may mean that they were not wanted.
  if (at === "" && tail === undefined) return since;
  const told = at === "" ? startedAt : millisecondsOf(at);
  return Math.max(since ?? 0, Math.min(told, startedAt - earlierMs));
}

/** What stands in front of each line of a container. */
export function prefixOf(name: string): string {
  return `[${name}] `;
}

/** Says in place of the rest of a container's output why there is none. */
export function brokenLine(name: string, error: unknown): Uint8Array {
  const text = error instanceof Error ? error.message : String(error);
  return Buffer.from(`${prefixOf(name)}[stream error] ${text}\n`);
}

/** Rings that come while no caller waits count as one. */
function createBell(signal: AbortSignal): { ring(): void; rung(): Promise<boolean> } {
  let wanted = Promise.withResolvers<void>();
  const ring = () => wanted.resolve();
  signal.addEventListener("abort", ring, { once: true });
  return {
    ring,
    async rung() {
      if (signal.aborted) return false;
      await wanted.promise;
      wanted = Promise.withResolvers();
      return !signal.aborted;
    },
  };
}
