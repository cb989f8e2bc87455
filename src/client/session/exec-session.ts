import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameTypes,
  jsonFrame,
  readJsonFrame,
} from "../../orchestration/api/exec-frames.ts";
import { readAnswer } from "../../base/wire/client.ts";
import { execFramingHeader, execPod } from "../../orchestration/api/exec.ts";
import { type ClientSocket, connectSocket } from "../shell/client-socket.ts";
import { parseEndpoint, unreachable } from "../shell/endpoint.ts";
import { CommandFailure, exitCodes } from "../shell/failures.ts";
import type { RawTerminal } from "../shell/raw-terminal.ts";

export interface ExecCall {
  /** As the operator wrote it. */
  endpoint: string;
  /** Path and query; asks for framing. */
  target: string;
  headers: Record<string, string>;
  body: unknown;
  tty: boolean;
  interactive: boolean;
  terminal: RawTerminal;
  /** Ends the session, and the command with it. */
  signal: AbortSignal;
  /** Limit for connecting and for the head of the answer. */
  answerMs: number;
}

/**
 * Runs one exec session from the request to its end. Answers with the exit code of the command, or 141 when nobody
 * reads our output any more. Fails with `ApiError` when the server refuses, `CommandFailure` when the session breaks.
 */
export async function execSession(call: ExecCall): Promise<number> {
  const address = parseEndpoint(call.endpoint);
  const socket = await connectSocket(address).catch((error: unknown) => {
    throw unreachable(error, call);
  });
  const stop = () => socket.terminate();
  call.signal.addEventListener("abort", stop, { once: true });
  if (call.signal.aborted) stop();
  try {
    await socket.send(requestBytes(call));
    const chunks = socket.incoming[Symbol.asyncIterator]();
    const first = await readHead(chunks);
    return await converse(call, socket, { first, chunks });
  } catch (error) {
    if (call.signal.aborted) throw new CommandFailure("interrupted", exitCodes.interrupted);
    if (isBrokenPipe(error)) return brokenPipeCode;
    throw error;
  } finally {
    call.signal.removeEventListener("abort", stop);
    socket.terminate();
  }
}

/** What a shell shows of a process that SIGPIPE ended. */
const brokenPipeCode = 141;

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

type Chunks = AsyncIterator<Uint8Array>;

function requestBytes({ target, headers, body }: ExecCall): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(body));
  const lines = [
    `POST ${target} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${bytes.length}`,
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes]);
}

const headBytesMax = 64 * 1024;

/** Reads the head of the answer; returns what followed it. An answer that is no framed session is an error. */
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

interface Answer {
  /** What came with the head. */
  first: Uint8Array;
  chunks: Chunks;
}

/** The terminal is raw only between the head of the answer and the end. */
async function converse(call: ExecCall, socket: ClientSocket, answer: Answer): Promise<number> {
  const { terminal, tty, interactive } = call;
  const input = interactive ? terminal.input() : undefined;
  const leaveRaw = tty && interactive ? terminal.enterRaw() : () => undefined;
  const unwatch = tty ? terminal.onResize(() => void sendSize(socket, terminal)) : () => undefined;
  try {
    if (input !== undefined) void feed(socket, input.chunks);
    return await receive(terminal, answer);
  } finally {
    unwatch();
    leaveRaw();
    input?.stop();
  }
}

async function feed(socket: ClientSocket, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) await socket.send(encodeFrame(frameTypes.stdin, chunk));
  await socket.send(encodeFrame(frameTypes.stdin, new Uint8Array(0)));
}

async function sendSize(socket: ClientSocket, terminal: RawTerminal): Promise<void> {
  const size = terminal.size();
  if (size !== undefined) await socket.send(jsonFrame(frameTypes.resize, size));
}

async function receive(terminal: RawTerminal, { first, chunks }: Answer): Promise<number> {
  const reader = createFrameReader();
  for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = (await chunks.next()).value) {
    const { frames, fault } = reader.push(chunk);
    for (const frame of frames) {
      const exitCode = await takeFrame(terminal, frame);
      if (exitCode !== undefined) return exitCode;
    }
    if (fault !== undefined) throw new CommandFailure(fault);
  }
  throw broke("before the command had ended");
}

async function takeFrame(terminal: RawTerminal, frame: Frame): Promise<number | undefined> {
  if (frame.type === frameTypes.stdout) await terminal.stdout(frame.payload);
  else if (frame.type === frameTypes.stderr) await terminal.stderr(frame.payload);
  else if (frame.type === frameTypes.error) throw new CommandFailure(new TextDecoder().decode(frame.payload));
  else if (frame.type === frameTypes.exit) return Number(readJsonFrame(frame)?.exit_code ?? exitCodes.failed);
  return undefined;
}

function broke(when: string): CommandFailure {
  return new CommandFailure(`the session broke off ${when}; the server's log may say why`);
}
