import type { EngineAddress } from "./client.ts";
import { type Attempt, refusal, unreachable } from "./errors.ts";
import { openPipe, type Pipe } from "./pipe.ts";

interface RawRequest {
  address: EngineAddress;
  /** Such as `GET /v1.41/info`, with the version prefix. */
  line: string;
  headers: readonly string[];
  body?: string;
  /** Every other status is a refusal. */
  accepts: readonly number[];
  /** Ends the attempt, and nothing after it. */
  signal: AbortSignal;
}

export interface RawAnswer {
  /** Stands behind the head. */
  pipe: Pipe;
  /** Status line and headers, in lower case. */
  head: string;
}

/** Far more than the engine sends in a head, or as the words of a refusal. */
const answerBytesMax = 64 * 1024;

/** Asks over a connection of its own, and hands it over. Fails with the engine's words when it refuses. */
export async function askRaw(attempt: Attempt, { signal, accepts, ...request }: RawRequest): Promise<RawAnswer> {
  const pipe = await openPipe(request.address);
  signal.addEventListener("abort", pipe.close);
  try {
    signal.throwIfAborted();
    await pipe.write(requestBytes(request));
    const { status, head, rest } = await readHead(pipe);
    if (!accepts.includes(status)) throw refusal({ status, words: await readWords(pipe, rest) }, attempt);
    if (rest.length > 0) pipe.unread(rest);
    return { pipe, head };
  } catch (error) {
    pipe.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", pipe.close);
  }
}

function requestBytes({ line, headers, body = "" }: Pick<RawRequest, "line" | "headers" | "body">): Buffer {
  return Buffer.from(`${[`${line} HTTP/1.1`, "Host: localhost", ...headers].join("\r\n")}\r\n\r\n${body}`);
}

async function readHead(pipe: Pipe): Promise<{ status: number; head: string; rest: Uint8Array }> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n");
    if (end !== -1) {
      const head = bytes.toString("latin1", 0, end).toLowerCase();
      return { status: statusIn(head), head, rest: bytes.subarray(end + 4) };
    }
    const chunk = await pipe.read();
    if (chunk === undefined || bytes.length > answerBytesMax) throw unreachable("it did not answer");
    bytes = Buffer.concat([bytes, chunk]);
  }
}

function statusIn(head: string): number {
  const status = /^http\/1\.[01] (\d{3})/.exec(head)?.[1];
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
