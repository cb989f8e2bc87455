import { type AnswerFraming, answerHead } from "./answer-head.ts";
import { appRequest, knowsChunks } from "./app-request.ts";
import { errorResponse, wholeText } from "../answers.ts";
import { failureStatus } from "../../wire/failure.ts";
import type { RequestHead } from "./request-head.ts";

export type AppHandler = (request: Request) => Response | Promise<Response>;

/** What a connection needs to know of the answer to its request. */
interface AnswerSink {
  /** Returns false when the client is slow: the next bytes then wait for `clientDrained`. */
  pass(bytes: Uint8Array): boolean;
  /** The answer is complete. */
  answered(): void;
  /** The handler threw: the client gets a 500. */
  threw(why: unknown): void;
  /** The stream of the answer threw. */
  broken(why: unknown): void;
}

/** One request at work in the app. */
export interface Answer {
  /** The client took everything that was kept for it. */
  clientDrained(): void;
  /** The client is gone: the handler sees its request aborted, and nothing is passed on any more. */
  abandon(): void;
}

interface AnswerOptions {
  handler: AppHandler;
  head: RequestHead;
  body: Uint8Array[];
  /** A header that takes the place of the client's own of that name. */
  added: { name: string; value: string } | undefined;
  /** The connection ends after this answer. */
  closing: boolean;
  sink: AnswerSink;
}

/** Calls the app in this process and passes its answer on, as fast as the client takes it. */
export function beginAnswer({ handler, head, body, added, closing, sink }: AnswerOptions): Answer {
  const gone = new AbortController();
  let drained: (() => void) | undefined;
  const isGone = () => gone.signal.aborted;
  const passage: Passage = {
    head,
    closing,
    isGone,
    write: (bytes) =>
      isGone() || sink.pass(bytes)
        ? undefined
        : new Promise<void>((resolve) => {
            drained = resolve;
          }),
  };
  const work = async () => {
    const request = appRequest(head, body, { added, signal: gone.signal });
    const response = await answerOf(handler, request, sink);
    await passOn(response, passage, gone.signal);
  };
  work().then(
    () => isGone() || sink.answered(),
    (why: unknown) => isGone() || sink.broken(why),
  );
  const wake = () => {
    drained?.();
    drained = undefined;
  };
  return {
    clientDrained: wake,
    abandon() {
      gone.abort();
      wake();
    },
  };
}

async function answerOf(handler: AppHandler, request: Request, sink: AnswerSink): Promise<Response> {
  try {
    return await handler(request);
  } catch (error) {
    if (!request.signal.aborted) sink.threw(error);
    return errorResponse({ status: failureStatus.internal, message: "internal error, the log says why" });
  }
}

interface Passage {
  head: RequestHead;
  closing: boolean;
  isGone(): boolean;
  /** Undefined when the next bytes may follow at once. */
  write(bytes: Uint8Array): Promise<void> | undefined;
}

type Chunk = Uint8Array | string;
/** As much of a stream's reader as is needed here. */
interface Reader {
  read(): Promise<{ done: false; value: Chunk } | { done: true }>;
  cancel(): Promise<void>;
}

async function passOn(response: Response, passage: Passage, signal: AbortSignal): Promise<void> {
  const text = wholeText(response);
  if (text !== undefined && !isWithoutBody(response.status)) {
    const bytes = Buffer.from(text);
    const first = passage.head.method === "HEAD" ? undefined : bytes;
    await begin(response, passage, { framing: { kind: "length", bytes: bytes.length }, first });
    return;
  }
  const reader: Reader | undefined = response.body?.getReader();
  if (reader === undefined || isWithoutBody(response.status)) {
    await reader?.cancel();
    await begin(response, passage, { framing: emptyFraming(response, passage.head), first: undefined });
    return;
  }
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    await passBody(response, passage, reader);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

async function passBody(response: Response, passage: Passage, reader: Reader): Promise<void> {
  const first = await reader.read();
  if (first.done)
    return void (await begin(response, passage, { framing: { kind: "length", bytes: 0 }, first: undefined }));
  const bytes = bytesOf(first.value);
  let next = reader.read();
  const whole = (await isSettled(next)) && (await next).done;
  if (passage.head.method === "HEAD") {
    next.catch(() => undefined);
    await reader.cancel();
    const framing: AnswerFraming = whole ? { kind: "length", bytes: bytes.length } : { kind: "none" };
    await begin(response, passage, { framing, first: undefined });
    return;
  }
  const framing: AnswerFraming = whole
    ? { kind: "length", bytes: bytes.length }
    : { kind: knowsChunks(passage.head) ? "chunked" : "close" };
  const frame = framing.kind === "chunked" ? chunkOf : asItIs;
  await begin(response, passage, { framing, first: frame(bytes) });
  while (!passage.isGone()) {
    const step = await next;
    if (step.done) break;
    const part = bytesOf(step.value);
    // An empty chunk would be the end of the body.
    if (part.length > 0) await passage.write(frame(part));
    next = reader.read();
  }
  if (framing.kind === "chunked") await passage.write(lastChunk);
}

function begin(
  response: Response,
  passage: Passage,
  { framing, first }: { framing: AnswerFraming; first: Uint8Array | undefined },
): Promise<void> | undefined {
  const closing = passage.closing || framing.kind === "close";
  const head = Buffer.from(answerHead(response, { framing, closing, now: Date.now() }), "latin1");
  return passage.write(first === undefined ? head : Buffer.concat([head, first]));
}

/** Statuses whose answers end after the head (RFC 9110 sections 15.3.5 and 15.4.5). */
function isWithoutBody(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

function emptyFraming(response: Response, head: RequestHead): AnswerFraming {
  if (isWithoutBody(response.status)) return { kind: "none" };
  const told = Number(response.headers.get("content-length") ?? "0");
  return { kind: "length", bytes: head.method === "HEAD" && Number.isSafeInteger(told) ? told : 0 };
}

/** A text answers at once that it has ended; a stream may be silent for long, and its first bytes must not wait. */
async function isSettled(read: Promise<unknown>): Promise<boolean> {
  if (Bun.peek.status(read) !== "pending") return true;
  await Promise.resolve();
  return Bun.peek.status(read) !== "pending";
}

function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

const crlf = Buffer.from("\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

function chunkOf(part: Uint8Array): Uint8Array {
  if (part.length === 0) return part;
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, crlf]);
}

function asItIs(part: Uint8Array): Uint8Array {
  return part;
}
