import type { InspectedPod } from "../pod.ts";
import type { LogOptions } from "../session.ts";
import type { DockerClient } from "./client.ts";
import type { Inspect } from "./containers.ts";
import { type Attempt, missing, unreachable } from "./errors.ts";
import { askRaw, type RawAnswer } from "./raw-request.ts";
import { createChunkSqueeze, createHeadSqueeze } from "./squeeze.ts";

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
    yield* container.tty ? bodyOf(opened.answer) : unframed(bodyOf(opened.answer));
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

/**
 * Not by dockerode: the engine sends every line by itself, and an HTTP client that hands them on one by one takes longer
 * over a log than the engine does.
 */
async function open(
  { engine, nameOrId }: LogSource,
  attempt: Attempt,
  { options, signal }: Opening,
): Promise<RawAnswer> {
  const { address } = engine;
  const version = await engine.apiVersion();
  const line = `GET /v${version}/containers/${encodeURIComponent(nameOrId)}/logs?${logQuery(options)}`;
  const request = { address, line, headers: ["Connection: close"], accepts: [200] };
  const answer = await engine.call(attempt, (_docker, deadline) =>
    askRaw(attempt, { ...request, signal: AbortSignal.any([signal, deadline]) }),
  );
  if (signal.aborted) answer.pipe.close();
  signal.addEventListener("abort", answer.pipe.close, { once: true });
  return answer;
}

type Opened = { answer: RawAnswer } | { error: unknown };

function settled(opening: Promise<RawAnswer>): Promise<Opened> {
  return opening.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
}

/**
 * The engine sends a log line by line. Taken as they come, each would go all the way to the client by itself, which costs
 * more than the line; a pause too short to notice makes thousands of them one.
 */
const gatherMs = 1;

/** An answer that ends without having said so was cut off. */
async function* bodyOf({ pipe, head }: RawAnswer): AsyncGenerator<Uint8Array> {
  const chunks = /^transfer-encoding: *chunked *$/m.test(head) ? createChunkSqueeze() : undefined;
  while (chunks?.ended() !== true) {
    const bytes = await pipe.read();
    if (bytes === undefined && chunks === undefined) return;
    if (bytes === undefined) throw unreachable("it broke off in the middle of an answer");
    const part = chunks === undefined ? bytes : chunks.push(bytes);
    if (part.length > 0) yield part;
    await pipe.gather(gatherMs);
  }
}

async function* unframed(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const heads = createHeadSqueeze();
  for await (const chunk of stream) {
    const part = heads.push(chunk);
    if (part.length > 0) yield part;
  }
}

export function logQuery({ follow, tail, since, timestamps }: LogOptions): URLSearchParams {
  return new URLSearchParams({
    stdout: "true",
    stderr: "true",
    follow: String(follow),
    timestamps: String(timestamps),
    tail: tail === undefined ? "all" : String(tail),
    ...(since === undefined ? {} : { since: (since / 1000).toFixed(3) }),
  });
}
