import type { InspectedPod } from "../pod.ts";
import type { LogOptions } from "../session.ts";
import type { DockerClient } from "./client.ts";
import type { Inspect } from "./containers.ts";
import { type Attempt, missing } from "./errors.ts";
import { openStream } from "./open-stream.ts";

const headBytes = 8;

/**
 * Takes the heads out of the engine's framing of output without a terminal (see `createDemuxer`), both streams in
 * their order. A log comes as a frame per line: moving bytes within a chunk costs a fraction of cutting it up.
 */
export function createHeadSqueeze(): (chunk: Uint8Array) => Uint8Array {
  let headFilled = 0;
  let length = 0;
  let left = 0;
  return (chunk) => {
    let out = 0;
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const end = Math.min(at + left, chunk.length);
        chunk.copyWithin(out, at, end);
        out += end - at;
        left -= end - at;
        at = end;
        continue;
      }
      // The last four bytes of a head are the length; what stood in it before is shifted out.
      length = (length << 8) | (chunk[at] ?? 0);
      at += 1;
      headFilled += 1;
      if (headFilled < headBytes) continue;
      headFilled = 0;
      left = length >>> 0;
    }
    return chunk.subarray(0, out);
  };
}

export interface LogSource {
  engine: DockerClient;
  inspect: Inspect;
  nameOrId: string;
}

interface LogReading {
  signal: AbortSignal;
  /** Told whose log it is, before the first byte. */
  onContainer?: (container: InspectedPod) => void;
}

/** One answer of the engine, without its framing, to where the engine ends it. Fails as `Engine.logs` does. */
export async function* readLog(
  source: LogSource,
  options: LogOptions,
  { signal, onContainer }: LogReading,
): AsyncGenerator<Uint8Array> {
  const { engine, inspect, nameOrId } = source;
  const attempt = { verb: "read the log of", subject: `container "${nameOrId}"` };
  const stop = new AbortController();
  const end = () => stop.abort();
  const ends = [signal, engine.held];
  for (const cause of ends) cause.addEventListener("abort", end, { once: true });
  try {
    // Side by side: how the output is framed is known by the time it comes.
    const [container, opened] = await Promise.all([
      inspect(nameOrId),
      settled(open(source, attempt, { options, signal: stop.signal })),
    ]);
    if (container === undefined) throw missing(attempt.subject);
    if (signal.aborted) return;
    if ("error" in opened) throw opened.error;
    onContainer?.(container);
    yield* container.tty ? gathered(opened.stream) : unframed(gathered(opened.stream));
  } catch (error) {
    if (!signal.aborted) throw engine.failure(error, attempt);
  } finally {
    for (const cause of ends) cause.removeEventListener("abort", end);
    stop.abort();
  }
}

interface Opening {
  options: LogOptions;
  /** Ends the connection, whenever. */
  signal: AbortSignal;
}

function open({ engine, nameOrId }: LogSource, attempt: Attempt, { options, signal }: Opening): Promise<LogBytes> {
  const path = `/containers/${encodeURIComponent(nameOrId)}/logs`;
  return engine.call(attempt, (docker, deadline) => {
    const end = AbortSignal.any([signal, deadline]);
    return openStream(docker, { method: "GET", path, query: logQuery(options), signal: end });
  });
}

type LogBytes = AsyncIterable<Uint8Array>;
type Opened = { stream: LogBytes } | { error: unknown };

function settled(opening: Promise<LogBytes>): Promise<Opened> {
  return opening.then(
    (stream) => ({ stream }),
    (error: unknown) => ({ error }),
  );
}

/**
 * The engine sends a log line by line. Taken as they come, each would go all the way to the client by itself, which costs
 * more than the line; a pause too short to notice makes thousands of them one.
 */
const gatherMs = 1;

async function* gathered(stream: LogBytes): LogBytes {
  for await (const bytes of stream) {
    yield bytes;
    await Bun.sleep(gatherMs);
  }
}

async function* unframed(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const heads = createHeadSqueeze();
  for await (const chunk of stream) {
    const part = heads(chunk);
    if (part.length > 0) yield part;
  }
}

export function logQuery({ follow, tail, since, timestamps }: LogOptions): Record<string, string> {
  return {
    stdout: "true",
    stderr: "true",
    follow: String(follow),
    timestamps: String(timestamps),
    tail: tail === undefined ? "all" : String(tail),
    ...(since === undefined ? {} : { since: (since / 1000).toFixed(3) }),
  };
}
