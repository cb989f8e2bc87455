/** How the end of a body is marked (RFC 9112 section 6). `close`: only responses, until the connection ends. */
export type BodyFraming =
  { kind: "none" } | { kind: "length"; bytes: number } | { kind: "chunked" } | { kind: "close" };

interface BoundaryStep {
  /** Bytes of the chunk that belong to this message; what follows is the next one. */
  used: number;
  done: boolean;
  /** Set when the framing is broken; the boundary must not be used again. */
  fault?: string;
}

/** Finds where a message body ends, however the stream is cut. */
export interface BodyBoundary {
  /** Hands every piece of payload (framing removed) to `onPayload`, as views into `chunk`. */
  take(chunk: Uint8Array, onPayload?: (part: Uint8Array) => void): BoundaryStep;
  /** Payload seen so far. */
  readonly payloadBytes: number;
}

export function createBodyBoundary(framing: BodyFraming): BodyBoundary {
  switch (framing.kind) {
    case "none":
      return lengthBoundary(0);
    case "length":
      return lengthBoundary(framing.bytes);
    case "close":
      return lengthBoundary(Number.POSITIVE_INFINITY);
    case "chunked":
      return chunkedBoundary();
  }
}

function lengthBoundary(bytes: number): BodyBoundary {
  let seen = 0;
  return {
    get payloadBytes() {
      return seen;
    },
    take(chunk, onPayload) {
      const used = Math.min(chunk.length, bytes - seen);
      if (used > 0) onPayload?.(chunk.subarray(0, used));
      seen += used;
      return { used, done: seen === bytes };
    },
  };
}

/** Longest size line with its extensions, and most bytes of trailers: no client needs more, and both are thrown away. */
const sizeLineBytesMax = 1024;
const trailerBytesMax = 8 * 1024;

type Part = "size" | "payload" | "payload end" | "trailer" | "done";

interface Chunked {
  part: Part;
  /** Payload bytes left in the current chunk. */
  left: number;
  /** The unfinished line, without its end. */
  line: string;
  trailerBytes: number;
  payloadBytes: number;
}

function chunkedBoundary(): BodyBoundary {
  const state: Chunked = { part: "size", left: 0, line: "", trailerBytes: 0, payloadBytes: 0 };
  return {
    get payloadBytes() {
      return state.payloadBytes;
    },
    take(chunk, onPayload) {
      let at = 0;
      while (at < chunk.length && state.part !== "done") {
        if (state.part === "payload") {
          at += takePayload(state, chunk.subarray(at), onPayload);
          continue;
        }
        const { used, fault } = takeLine(state, chunk.subarray(at));
        at += used;
        if (fault !== undefined) return { used: at, done: false, fault };
      }
      return { used: at, done: state.part === "done" };
    },
  };
}

function takePayload(state: Chunked, chunk: Uint8Array, onPayload: ((part: Uint8Array) => void) | undefined): number {
  const used = Math.min(state.left, chunk.length);
  onPayload?.(chunk.subarray(0, used));
  state.left -= used;
  state.payloadBytes += used;
  if (state.left === 0) state.part = "payload end";
  return used;
}

function takeLine(state: Chunked, chunk: Uint8Array): { used: number; fault?: string } {
  const end = chunk.indexOf(0x0a);
  const used = end < 0 ? chunk.length : end + 1;
  const max = state.part === "trailer" ? trailerBytesMax : sizeLineBytesMax;
  if (state.line.length + used + state.trailerBytes > max)
    return { used, fault: "a line of the chunked body is too long" };
  state.line += Buffer.from(chunk.buffer, chunk.byteOffset, used).toString("latin1");
  if (end < 0) return { used };
  const { line } = state;
  state.line = "";
  if (!line.endsWith("\r\n")) return { used, fault: "lines of a chunked body must end in CR LF" };
  const fault = endLine(state, line.slice(0, -2));
  return fault === undefined ? { used } : { used, fault };
}

const sizeLine = /^([0-9a-fA-F]{1,12})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?$/;

function endLine(state: Chunked, line: string): string | undefined {
  if (state.part === "payload end") {
    if (line !== "") return "a chunk is longer than its size says";
    state.part = "size";
  } else if (state.part === "trailer") {
    state.trailerBytes += line.length + 2;
    if (line === "") state.part = "done";
  } else {
    const [, size] = sizeLine.exec(line) ?? [];
    if (size === undefined) return `chunk size ${JSON.stringify(line.slice(0, 40))} is not a hexadecimal number`;
    state.left = Number.parseInt(size, 16);
    state.part = state.left === 0 ? "trailer" : "payload";
  }
  return undefined;
}
