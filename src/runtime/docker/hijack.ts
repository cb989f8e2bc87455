import type { EngineAddress } from "./engine.ts";
import { type Attempt, refusal, unreachable } from "./errors.ts";
import { openPipe, type Pipe } from "./pipe.ts";

export interface HijackRequest {
  address: EngineAddress;
  /** With the version prefix. */
  path: string;
  body: object;
  /** Ends the attempt, and nothing after it. */
  signal: AbortSignal;
}

/** Far more than the engine sends in a head, or as the words of a refusal. */
const answerBytesMax = 64 * 1024;

/**
 * Posts a request whose connection becomes a raw one in both directions once the engine has agreed. Fails with the
 * engine's words when it refuses instead. Source: Docker Engine API, "Attach to a container", hijacking.
 */
export async function hijack(attempt: Attempt, { address, path, body, signal }: HijackRequest): Promise<Pipe> {
  const pipe = await openPipe(address);
  signal.addEventListener("abort", pipe.close);
  try {
    signal.throwIfAborted();
    await pipe.write(requestBytes(path, JSON.stringify(body)));
    const { status, rest } = await readHead(pipe);
    if (status !== 101 && status !== 200) throw refusal({ status, words: await readWords(pipe, rest) }, attempt);
    if (rest.length > 0) pipe.unread(rest);
    return pipe;
  } catch (error) {
    pipe.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", pipe.close);
  }
}

function requestBytes(path: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: tcp",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

async function readHead(pipe: Pipe): Promise<{ status: number; rest: Uint8Array }> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n");
    if (end !== -1) return { status: statusIn(bytes), rest: bytes.subarray(end + 4) };
    const chunk = await pipe.read();
    if (chunk === undefined || bytes.length > answerBytesMax) throw unreachable("it did not answer");
    bytes = Buffer.concat([bytes, chunk]);
  }
}

function statusIn(head: Buffer): number {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString("latin1", 0, 16))?.[1];
  if (status === undefined) throw unreachable("its answer is not HTTP");
  return Number(status);
}

/** The message of a refusal, however its body was cut or framed. */
async function readWords(pipe: Pipe, first: Uint8Array): Promise<string> {
  let text = Buffer.from(first).toString();
  for (;;) {
    const message = /\{"message":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
    if (message !== undefined) return String(JSON.parse(message)).trim();
    const chunk = text.length > answerBytesMax ? undefined : await pipe.read();
    if (chunk === undefined) return text.trim();
    text += Buffer.from(chunk).toString();
  }
}
