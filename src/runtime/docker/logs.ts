import type { LogOptions, Runtime } from "../runtime.ts";
import { createDemuxer } from "./demux.ts";
import { openStream } from "./open-stream.ts";
import type { Engine } from "./engine.ts";
import { engineFailure, missing } from "./errors.ts";

/** See `Runtime.logs`. */
export function createLogs(engine: Engine, inspect: Runtime["inspect"]): Pick<Runtime, "logs"> {
  return { logs: (nameOrId, options, signal) => logs({ engine, inspect, nameOrId }, options, signal) };
}

interface Source {
  engine: Engine;
  inspect: Runtime["inspect"];
  nameOrId: string;
}

async function* logs(source: Source, options: LogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { engine, inspect, nameOrId } = source;
  const attempt = { verb: "read the log of", subject: `container "${nameOrId}"` };
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const cause of [signal, engine.closed]) cause.addEventListener("abort", end, { once: true });
  const path = `/containers/${encodeURIComponent(nameOrId)}/logs`;
  const request = { method: "GET" as const, path, query: logQuery(options), signal: stop.signal };
  try {
    // Side by side: how the output is framed is known by the time it comes.
    const [container, opened] = await Promise.all([
      inspect(nameOrId),
      settled(engine.call(attempt, (docker) => openStream(docker, request))),
    ]);
    if (container === undefined) throw missing(attempt.subject);
    if (signal.aborted) return;
    if ("error" in opened) throw opened.error;
    yield* container.tty ? opened.stream : unframed(opened.stream);
  } catch (error) {
    if (!signal.aborted) throw engineFailure(error, attempt);
  } finally {
    for (const cause of [signal, engine.closed]) cause.removeEventListener("abort", end);
    stop.abort();
  }
}

type Opened = { stream: AsyncIterable<Uint8Array> } | { error: unknown };

function settled(opening: Promise<AsyncIterable<Uint8Array>>): Promise<Opened> {
  return opening.then(
    (stream) => ({ stream }),
    (error: unknown) => ({ error }),
  );
}

async function* unframed(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const demux = createDemuxer();
  for await (const chunk of stream) {
    const parts = demux(chunk);
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) yield only.bytes;
    else if (parts.length > 1) yield Buffer.concat(parts.map(({ bytes }) => bytes));
  }
}

export function logQuery({ follow, tail, since, timestamps }: LogOptions): Record<string, string | boolean> {
  return {
    stdout: true,
    stderr: true,
    follow,
    timestamps,
    tail: tail === undefined ? "all" : String(tail),
    ...(since === undefined ? {} : { since: (since / 1000).toFixed(3) }),
  };
}
