import { readAnswer } from "../../base/wire/client.ts";
import { execFramingHeader, execPod } from "../../orchestration/api/exec.ts";
import { type ClientSocket, connectSocket } from "../basics/client-socket.ts";
import { type Route, throughRoute, unreachable } from "../basics/endpoint.ts";
import { CommandFailure } from "../basics/failures.ts";

/** A request whose connection becomes a framed session. */
export interface SessionCall {
  route: Route;
  /** Path and query; asks for framing where that is a choice. */
  target: string;
  headers: Record<string, string>;
  /** Sent as JSON; undefined: the request has no body. */
  body?: unknown;
  /** Ends the session. */
  signal: AbortSignal;
  /** Limit for connecting and for the head of the answer. */
  answerMs: number;
}

/** What follows the head of the answer. */
export interface SessionAnswer {
  /** What came with the head. */
  first: Uint8Array;
  chunks: Chunks;
}

/** Connects to the server. Fails with what to do when it is not reached. */
export function dialServer(call: SessionCall): Promise<ClientSocket> {
  const { route } = call;
  return throughRoute(route, () => connectSocket(route.address), true).catch((error: unknown) => {
    throw unreachable(error, { ...call, endpoint: route.shown });
  });
}

/** Sends the request and reads the head of the answer. Fails with `ApiError` when the server refuses. */
export async function openSession(call: SessionCall, socket: ClientSocket): Promise<SessionAnswer> {
  await socket.send(requestBytes(call));
  const chunks = socket.incoming[Symbol.asyncIterator]();
  return { first: await readHead(chunks), chunks };
}

type Chunks = AsyncIterator<Uint8Array>;

function requestBytes({ target, headers, body }: SessionCall): Uint8Array {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const lines = [
    `POST ${target} HTTP/1.1`,
    "Host: localhost",
    ...(body === undefined ? [] : ["Content-Type: application/json"]),
    `Content-Length: ${bytes.length}`,
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes]);
}

const headBytesMax = 64 * 1024;

/** Reads the head of the answer; returns what followed it. An answer that is not a framed session is an error. */
async function readHead(chunks: Chunks): Promise<Uint8Array> {
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n");
    if (end >= 0) return checkHead(bytes.toString("latin1", 0, end), bytes.subarray(end + 4), chunks);
    const { value, done } = await chunks.next();
    if (done || bytes.length > headBytesMax) throw broke("before the server had answered");
    bytes = Buffer.concat([bytes, value]);
  }
}

async function checkHead(head: string, rest: Uint8Array, chunks: Chunks): Promise<Uint8Array> {
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 200 && new RegExp(`^${execFramingHeader}: *1\r?$`, "im").test(head)) return rest;
  if (status === 200) throw new CommandFailure("the server is too old: it does not frame exec sessions");
  const length = Number(/^content-length: *(\d+)\r?$/im.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
  let body: Buffer = Buffer.from(rest);
  while (body.length < length) {
    const { value, done } = await chunks.next();
    if (done) break;
    body = Buffer.concat([body, value]);
  }
  readAnswer(execPod, status, body.toString());
  throw broke("before it began");
}

/** A session that ended without saying how. */
export function broke(when: string): CommandFailure {
  return new CommandFailure(`the session broke off ${when}; the server's log may say why`);
}
