import { type BodyBoundary, type BodyFraming, createBodyBoundary } from "./body-boundary.ts";

export interface ResponseStep {
  /** Bytes to pass on, in order. */
  pass: Uint8Array[];
  done: boolean;
  /** Set when the stream is not an HTTP response, or goes on after its end. */
  fault?: string;
  /** Set instead of bytes when the inner server's own parser refused the request: it answers without a body. */
  refusedStatus?: number;
}

/** Follows one response of the inner server to its end. */
export interface ResponseReader {
  take(chunk: Uint8Array): ResponseStep;
  /** Whether the end of the stream now is a proper end of the response. */
  endsHere(): boolean;
}

const responseHeadBytesMax = 64 * 1024;
const closeHeader = Buffer.from("Connection: close\r\n");

/** `closing`: the connection ends after this response, which is then told to the client. */
export function createResponseReader(request: { method: string; closing: boolean }): ResponseReader {
  let pending: Buffer = Buffer.alloc(0);
  let framing: BodyFraming | undefined;
  let boundary: BodyBoundary | undefined;

  const takeHead = (): ResponseStep => {
    const end = pending.indexOf("\r\n\r\n");
    if (end < 0) {
      return pending.length > responseHeadBytesMax
        ? broken("the response head is too large")
        : { pass: [], done: false };
    }
    const head = readHead(pending.toString("latin1", 0, end));
    if (head === undefined) return broken("not a response head");
    if (isOwnRefusal(head)) return { pass: [], done: true, refusedStatus: head.status };
    framing = responseFraming(head, request.method);
    boundary = createBodyBoundary(framing);
    const headBytes = pending.subarray(0, end + 4);
    const step = takeBody(boundary, pending.subarray(end + 4));
    const pass = request.closing
      ? [withCloseHeader(headBytes), ...step.pass]
      : [pending.subarray(0, headBytes.length + bytesOf(step.pass))];
    return { ...step, pass };
  };
  return {
    take(chunk) {
      if (boundary !== undefined) return takeBody(boundary, chunk);
      pending = pending.length === 0 ? asBuffer(chunk) : Buffer.concat([pending, chunk]);
      return takeHead();
    },
    endsHere: () => framing?.kind === "close",
  };
}

function takeBody(boundary: BodyBoundary, chunk: Uint8Array): ResponseStep {
  const { used, done, fault } = boundary.take(chunk);
  const pass = used === 0 ? [] : [used === chunk.length ? chunk : chunk.subarray(0, used)];
  if (fault !== undefined) return { pass, done: false, fault };
  if (used < chunk.length) return { pass, done, fault: "bytes after the end of the response" };
  return { pass, done };
}

function bytesOf(parts: Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function broken(fault: string): ResponseStep {
  return { pass: [], done: false, fault };
}

function withCloseHeader(head: Buffer): Buffer {
  return Buffer.concat([head.subarray(0, -2), closeHeader, head.subarray(-2)]);
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

interface ResponseHead {
  status: number;
  length: number | undefined;
  chunked: boolean;
}

function readHead(text: string): ResponseHead | undefined {
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? [];
  if (status === undefined) return undefined;
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(text) ?? [];
  return {
    status: Number(status),
    length: length === undefined ? undefined : Number(length),
    chunked: /\r\ntransfer-encoding: *chunked/i.test(text),
  };
}

/** What Bun sends when its parser dislikes a request that ours let through: a status and nothing else. */
function isOwnRefusal(head: ResponseHead): boolean {
  return [400, 413, 431].includes(head.status) && head.length === undefined && !head.chunked;
}

function responseFraming(head: ResponseHead, method: string): BodyFraming {
  if (method === "HEAD" || head.status === 204 || head.status === 304) return { kind: "none" };
  if (head.chunked) return { kind: "chunked" };
  if (head.length !== undefined) return { kind: "length", bytes: head.length };
  return { kind: "close" };
}
