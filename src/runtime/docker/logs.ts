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
  const container = await inspect(nameOrId);
  if (container === undefined) throw missing(attempt.subject);
  if (signal.aborted) return;
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const cause of [signal, engine.closed]) cause.addEventListener("abort", end, { once: true });
  try {
    const query = logQuery(options);
    const request = { method: "GET" as const, path: `/containers/${container.id}/logs`, query, signal: stop.signal };
    const stream = await engine.call(attempt, (docker) => openStream(docker, request));
    yield* container.tty ? stream : unframed(stream);
  } catch (error) {
    if (!signal.aborted) throw engineFailure(error, attempt);
  } finally {
    for (const cause of [signal, engine.closed]) cause.removeEventListener("abort", end);
    stop.abort();
  }
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
