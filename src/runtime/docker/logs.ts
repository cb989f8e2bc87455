import type Dockerode from "dockerode";
import type { LogOptions, Runtime } from "../runtime.ts";
import { createDemuxer } from "./demux.ts";
import type { Engine } from "./engine.ts";
import { type Attempt, engineFailure, missing } from "./errors.ts";

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
    const stream = await open(engine, attempt, { id: container.id, options, abortSignal: stop.signal });
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

interface Query {
  id: string;
  options: LogOptions;
  abortSignal: AbortSignal;
}

type Dial = Parameters<Dockerode["modem"]["dial"]>[0];

/** Not by dockerode's own call: without `follow` that one reads everything before it hands out the first byte. */
function open(
  engine: Engine,
  attempt: Attempt,
  { id, options, abortSignal }: Query,
): Promise<AsyncIterable<Uint8Array>> {
  const request: Dial = {
    path: `/containers/${id}/logs?`,
    method: "GET",
    isStream: true,
    abortSignal,
    statusCodes: { 200: true },
    options: logQuery(options),
  };
  return engine.call(attempt, (docker) => dial(docker, request));
}

function dial(docker: Dockerode, request: Dial): Promise<AsyncIterable<Uint8Array>> {
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error: unknown, stream: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(stream as AsyncIterable<Uint8Array>);
    });
  });
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
