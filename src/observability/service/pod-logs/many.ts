import type { Log } from "../../../base/words/log.ts";
import { createPrefixedLines } from "../../core/pods/prefixed-lines.ts";
import type { LogReading, ReadPodLogs } from "../platform.ts";

interface Many {
  names: readonly string[];
  reading: LogReading;
  open: ReadPodLogs;
  /** Where pods are found that were not there at the beginning; only asked while following. */
  later: { names(): Promise<string[]>; subscribe(listener: () => void): () => void };
  log: Log;
}

/** Longer lines go out in pieces. */
const lineBytesMax = 1024 * 1024;

/** What waits for a slow client, in bytes; the pods are not read on meanwhile. */
const waitingBytesMax = 256 * 1024;

/**
 * The output of many pods in one stream, line by line. Without `follow` it ends with the last of them; with it, it goes on
 * until the signal of the reading aborts, and pods that come later join in.
 */
export function followMany({ names, reading, open, later, log }: Many): ReadableStream<Uint8Array> {
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
    await writer.ready;
    await writer.write(bytes);
  };
  const pump = async (name: string, options: LogReading) => {
    const prefix = `[${name}] `;
    try {
      const lines = createPrefixedLines(prefix, lineBytesMax);
      for await (const bytes of await open(name, options)) await write(lines.push(bytes));
      await write(lines.rest());
    } catch (error) {
      if (signal.aborted) return;
      log.warn("log stream broke off", { pod: name, error });
      const text = error instanceof Error ? error.message : String(error);
      await write(Buffer.from(`${prefix}[stream error] ${text}\n`));
    }
  };
  const read = new Map(names.map((name) => [name, pump(name, { ...reading, signal })]));
  const join = async () => {
    for (const name of await later.names()) {
      // From its beginning: it was not there before.
      if (!read.has(name)) read.set(name, pump(name, { ...reading, signal, tail: undefined }));
    }
  };
  const run = async () => {
    if (!reading.follow) await Promise.all(read.values());
    else await untilAborted(signal, later.subscribe, join);
  };
  run()
    .catch((error: unknown) => {
      if (!signal.aborted) log.warn("log streams broke off", { error });
    })
    .finally(() => writer.close().catch(() => undefined));
  return readable;
}

/** Looks for pods that came, one look at a time, whenever something may have changed. */
async function untilAborted(
  signal: AbortSignal,
  subscribe: (listener: () => void) => () => void,
  look: () => Promise<void>,
): Promise<void> {
  let wanted = Promise.withResolvers<void>();
  const wake = () => wanted.resolve();
  const leave = subscribe(wake);
  signal.addEventListener("abort", wake, { once: true });
  try {
    while (!signal.aborted) {
      await wanted.promise;
      if (signal.aborted) return;
      wanted = Promise.withResolvers<void>();
      // The engine may be away for a moment; the next change looks again.
      await look().catch(() => undefined);
    }
  } finally {
    leave();
  }
}
