import type { RequestHead } from "./request-head.ts";
import { createResponseReader, type ResponseReader, type ResponseStep } from "./response-reader.ts";
import { createWire, type Wire } from "./wire.ts";

/** What a connection needs to know of the answer to the request it forwarded. */
export interface AnswerSink {
  /** Returns false when the client is slow: the inner server is then paused until `clientDrained`. */
  pass(bytes: Uint8Array): boolean;
  /** The response is complete. */
  answered(): void;
  /** The inner server refused the request by itself, without a body. */
  refused(status: number): void;
  /** The inner server went away before the response was complete, or could not be reached. */
  broken(why: unknown): void;
}

/** One client connection's link to the inner server: opened when first needed, kept between requests. */
export interface Upstream {
  sink: AnswerSink;
  path: string;
  wire: Wire | undefined;
  /** The request that waits for the link to open. */
  waiting: Uint8Array | undefined;
  /** Undefined between requests. */
  response: ResponseReader | undefined;
  closed: boolean;
}

export function createUpstream(path: string, sink: AnswerSink): Upstream {
  return { sink, path, wire: undefined, waiting: undefined, response: undefined, closed: false };
}

/** Sends one request; the previous one must have been answered. */
export function sendUpstream(upstream: Upstream, bytes: Uint8Array, head: RequestHead & { closing: boolean }): void {
  upstream.response = createResponseReader(head);
  if (upstream.wire !== undefined) {
    upstream.wire.write(bytes);
    return;
  }
  upstream.waiting = bytes;
  Bun.connect({ unix: upstream.path, data: upstream, socket: handlers }).catch((error: unknown) => {
    if (!upstream.closed) upstream.sink.broken(error);
  });
}

/** The client took all that was kept for it. */
export function clientDrained(upstream: Upstream): void {
  upstream.wire?.resume();
}

/** Drops the link: a handler still at work sees its request aborted. */
export function closeUpstream(upstream: Upstream): void {
  upstream.closed = true;
  upstream.wire?.terminate();
  upstream.wire = undefined;
}

const handlers = {
  open(socket: Bun.Socket<Upstream>) {
    const upstream = socket.data;
    if (upstream.closed) return void socket.terminate();
    upstream.wire = createWire(socket);
    if (upstream.waiting !== undefined) upstream.wire.write(upstream.waiting);
    upstream.waiting = undefined;
  },
  data(socket: Bun.Socket<Upstream>, chunk: Uint8Array) {
    try {
      takeAnswer(socket.data, chunk);
    } catch (error) {
      breakOff(socket.data, error);
    }
  },
  drain(socket: Bun.Socket<Upstream>) {
    socket.data.wire?.flush();
  },
  close(socket: Bun.Socket<Upstream>) {
    const upstream = socket.data;
    upstream.wire = undefined;
    const { response } = upstream;
    if (upstream.closed || response === undefined) return;
    upstream.response = undefined;
    if (response.endsHere()) finishAnswer(upstream);
    else upstream.sink.broken("the inner server closed the connection");
  },
  error(socket: Bun.Socket<Upstream>, error: Error) {
    breakOff(socket.data, error);
  },
};

function takeAnswer(upstream: Upstream, chunk: Uint8Array): void {
  const { response, sink } = upstream;
  if (upstream.closed) return;
  const step: ResponseStep = response?.take(chunk) ?? { pass: [], done: false, fault: "bytes without a request" };
  let clientKeepsUp = true;
  for (const bytes of step.pass) clientKeepsUp = sink.pass(bytes);
  if (step.fault !== undefined) {
    breakOff(upstream, step.fault);
  } else if (step.refusedStatus !== undefined) {
    closeUpstream(upstream);
    sink.refused(step.refusedStatus);
  } else {
    if (!clientKeepsUp) upstream.wire?.pause();
    if (step.done) finishAnswer(upstream);
  }
}

function finishAnswer(upstream: Upstream): void {
  upstream.response = undefined;
  upstream.sink.answered();
}

function breakOff(upstream: Upstream, why: unknown): void {
  if (upstream.closed) return;
  closeUpstream(upstream);
  upstream.sink.broken(why);
}
