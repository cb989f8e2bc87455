import type { ErrorEnvelope } from "../../base/wire/envelope.ts";
import type { DataOf, Endpoint } from "../../base/wire/endpoint.ts";
import { type ProgressLine, progressMediaType } from "../api/plugins/protocol.ts";
import { endStatus, okResponse } from "../../base/http/answers.ts";
import { type Call, mountStream, type Plane } from "../../base/http/mount.ts";

/** Lines that a slow reader has not taken yet; the oldest of more are left out, and a line says how many. */
const linesHeldMax = 1_000;

/** Who waits for work. */
interface Audience {
  /** Aborts when they leave. */
  signal: AbortSignal;
  /** Told lines while it goes on; undefined where only the end is wanted. */
  onLine?: (line: string) => void;
}

/** Work that ends with data. */
type Work<D> = (audience: Audience) => Promise<D>;

/**
 * Mounts an endpoint whose work may take long: who asks with `Accept: application/x-ndjson` gets lines meanwhile, and
 * others get the envelope at its end. `begin` reads the request, its body too. `statusOf`: of that envelope.
 */
export function mountProgress<E extends Endpoint>(
  plane: Plane,
  endpoint: E,
  begin: (call: Call<E>, request: Request) => Promise<Work<DataOf<E>>>,
  statusOf: (data: DataOf<E>) => number = () => 200,
): void {
  mountStream(plane, endpoint, async (call, request) => {
    const work = await begin(call, request);
    const { left: signal, keepOpen } = call;
    keepOpen();
    const isTold = request.headers.get("accept")?.includes(progressMediaType) === true;
    if (isTold) {
      const stream = call.open();
      const streamed: Work<unknown> = (audience) => work(audience).finally(stream.close);
      return progressResponse(plane, AbortSignal.any([signal, stream.signal]), streamed);
    }
    const data = await work({ signal });
    return okResponse(statusOf(data), data);
  });
}

/**
 * Answers with a line of JSON for each line that the work tells, and at last its result. Work that fails before it told
 * anything is answered as without progress.
 */
async function progressResponse(plane: Plane, signal: AbortSignal, work: Work<unknown>): Promise<Response> {
  const left = new AbortController();
  const queue = createQueue();
  const audience = { signal: AbortSignal.any([signal, left.signal]), onLine: queue.push };
  const done = work(audience).then(resultLine, (error: unknown) => failureLine(plane, error));
  let result: { line: ProgressLine; failed: Response | undefined } | undefined;
  const ended = done.then((it) => {
    result = it;
    queue.wake();
  });
  await Promise.race([ended, queue.first]);
  if (result?.failed !== undefined && queue.isEmpty()) return result.failed;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (queue.isEmpty() && result === undefined) await queue.next();
      const lines: ProgressLine[] = queue.take().map((text) => ({ type: "progress", text }));
      if (result !== undefined) lines.push(result.line);
      controller.enqueue(encoder.encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
      if (result !== undefined) controller.close();
    },
    cancel: () => left.abort(),
  });
  const response = new Response(body, { headers: { "Content-Type": progressMediaType } });
  const status = done.then(({ failed }) => failed?.status ?? 200);
  endStatus.set(response, status);
  return response;
}

function resultLine(data: unknown): { line: ProgressLine; failed: undefined } {
  return { line: { type: "result", code: 200, status: "ok", data }, failed: undefined };
}

async function failureLine(plane: Plane, error: unknown): Promise<{ line: ProgressLine; failed: Response }> {
  const failed = plane.mapError(error);
  const { code: _, ...envelope } = (await failed.clone().json()) as ErrorEnvelope;
  return { line: { ...envelope, type: "result", code: failed.status }, failed };
}

function createQueue() {
  let lines: string[] = [];
  let dropped = 0;
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const tell of waiting) tell();
    waiting = [];
  };
  const next = () => new Promise<void>((resolve) => waiting.push(resolve));
  return {
    wake,
    next,
    /** Resolves with the first line. */
    first: next(),
    isEmpty: () => lines.length === 0,
    push(line: string) {
      lines.push(line);
      if (lines.length > linesHeldMax) {
        lines.shift();
        dropped++;
      }
      wake();
    },
    take(): string[] {
      const taken = dropped === 0 ? lines : [`(${dropped} lines left out)`, ...lines];
      lines = [];
      dropped = 0;
      return taken;
    },
  };
}
