import { readCount, readPodName, readSince } from "../../base/http/request.ts";
import { readFlag } from "../../base/wire/query.ts";
import { batched } from "../../base/words/batched.ts";
import { planeLogs, planePodLogs } from "../api/pod-logs.ts";
import { restartPlanePod } from "../api/pods.ts";
import type { OpenStream } from "../service/streams.ts";
import { mount, mountStream } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** Engines hand out line by line; writing each by itself would cost more than reading it. */
const batchBytesMax = 64 * 1024;

const lineEnd = Buffer.from("\n");

export function mountPods(plane: ObservabilityPlane, headerPrefix: string): void {
  const { pods } = plane.observability;
  mount(plane, restartPlanePod, ({ grant, params }) => pods.restart(grant, readPodName(params)));
  mountStream(plane, planePodLogs, (call) =>
    streamed(plane, call, async (stream, reading) => {
      const name = readPodName(call.params);
      const bytes = await pods.logs(call.grant, name, reading);
      return { bytes: batched(bytes, batchBytesMax), headers: { [`${headerPrefix}-Container`]: name }, stream };
    }),
  );
  mountStream(plane, planeLogs, (call) =>
    streamed(plane, call, async (stream, reading) => {
      const { kind, scope, name } = call.query;
      const { names, bytes } = await pods.manyLogs(call.grant, { kind, scope, name }, reading);
      return { bytes, headers: { [`${headerPrefix}-Containers`]: names.join(",") }, stream };
    }),
  );
}

type LogCall = PlaneCall<typeof planePodLogs> | PlaneCall<typeof planeLogs>;

interface Opened {
  bytes: AsyncIterable<Uint8Array>;
  headers: Record<string, string>;
}

type Open = (stream: OpenStream, reading: ReturnType<typeof readReading> & { signal: AbortSignal }) => Promise<Opened>;

/** The stream ends with the token, with the client, and with the server. */
async function streamed(plane: ObservabilityPlane, call: LogCall, open: Open): Promise<Response> {
  const { grant, request } = call;
  const reading = readReading(call, Date.now());
  const stream = plane.observability.streams.open(grant, request.signal);
  try {
    const { bytes, headers } = await open(stream, { ...reading, signal: stream.signal });
    plane.connected.keepOpen(request);
    const pingMs = reading.follow ? plane.limits.pingMs : undefined;
    const body = bodyOf(bytes, { stream, pingMs });
    return new Response(body, {
      headers: { ...headers, "Content-Type": planeLogs.stream ?? "", "Cache-Control": "no-store" },
    });
  } catch (error) {
    stream.close();
    throw error;
  }
}

/** `since` filters first, then `tail` keeps the last lines of what is left. */
function readReading({ query }: LogCall, now: number) {
  const { follow, tail, since, timestamps } = query;
  return {
    follow: readFlag(follow, false),
    tail: readCount("tail", tail, Number.MAX_SAFE_INTEGER),
    since: readSince(since, now),
    timestamps: readFlag(timestamps, false),
  };
}

interface Body {
  stream: OpenStream;
  /** An empty line goes out when nothing has for this long. */
  pingMs: number | undefined;
}

/** Pulled: a slow reader makes the engine wait. What breaks off breaks the answer off. */
function bodyOf(bytes: AsyncIterable<Uint8Array>, { stream, pingMs }: Body): ReadableStream<Uint8Array> {
  const parts = bytes[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Uint8Array>> | undefined;
  const leave = () => {
    stream.close();
    parts.return?.().catch(() => undefined);
  };
  return new ReadableStream({
    async pull(controller) {
      next ??= parts.next();
      const result = await firstOf(next, pingMs, stream.signal).catch((error: unknown) => {
        stream.close();
        throw error;
      });
      if (result === "ping") return controller.enqueue(lineEnd);
      next = undefined;
      if (result !== "ended" && !result.done) return controller.enqueue(result.value);
      leave();
      controller.close();
    },
    cancel: leave,
  });
}

type Next = IteratorResult<Uint8Array> | "ping" | "ended";

async function firstOf(
  next: Promise<IteratorResult<Uint8Array>>,
  pingMs: number | undefined,
  signal: AbortSignal,
): Promise<Next> {
  if (signal.aborted) return "ended";
  const { promise, resolve } = Promise.withResolvers<Next>();
  const timer = pingMs === undefined ? undefined : setTimeout(() => resolve("ping"), pingMs);
  const end = () => resolve("ended");
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
