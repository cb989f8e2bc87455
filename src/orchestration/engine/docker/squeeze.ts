import { unreachable } from "./errors.ts";

/** What takes the framing out of a stream whose chunks may be cut anywhere. */
export interface Squeeze {
  /** What is left of the chunk, moved together within its own memory. Fails `unavailable` when the framing is none. */
  push(chunk: Uint8Array): Uint8Array;
  /** The framing itself has said that nothing comes any more. */
  ended(): boolean;
}

const headBytes = 8;

/**
 * Takes the heads out of the engine's framing of output without a terminal (see `createDemuxer`), both streams in
 * their order. A log comes as a frame per line: moving bytes within a chunk costs a fraction of cutting it up.
 */
export function createHeadSqueeze(): Squeeze {
  let headFilled = 0;
  let length = 0;
  let left = 0;
  return {
    push(chunk) {
      let out = 0;
      for (let at = 0; at < chunk.length;) {
        if (left > 0) {
          const end = Math.min(at + left, chunk.length);
          chunk.copyWithin(out, at, end);
          out += end - at;
          left -= end - at;
          at = end;
          continue;
        }
        // The last four bytes of a head are the length; what stood in it before is shifted out.
        length = (length << 8) | (chunk[at] ?? 0);
        at += 1;
        headFilled += 1;
        if (headFilled < headBytes) continue;
        headFilled = 0;
        left = length >>> 0;
      }
      return chunk.subarray(0, out);
    },
    ended: () => false,
  };
}

/** Takes chunked transfer coding out; trailers are dropped. Source: RFC 9112, section 7.1. */
export function createChunkSqueeze(): Squeeze {
  const line = createLengthLine();
  let state: "length" | "data" | "end of data" | "ended" = "length";
  let left = 0;
  const step = (byte: number): void => {
    if (state === "end of data") {
      if (byte === lineFeed) state = "length";
      return;
    }
    const length = line(byte);
    if (length === undefined) return;
    left = length;
    state = length === 0 ? "ended" : "data";
  };
  return {
    push(chunk) {
      let out = 0;
      for (let at = 0; at < chunk.length && state !== "ended";) {
        if (state !== "data") {
          step(chunk[at] ?? 0);
          at += 1;
          continue;
        }
        const end = Math.min(at + left, chunk.length);
        chunk.copyWithin(out, at, end);
        out += end - at;
        left -= end - at;
        at = end;
        if (left === 0) state = "end of data";
      }
      return chunk.subarray(0, out);
    },
    ended: () => state === "ended",
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** A length beyond this many digits is none. */
const digitsMax = 8;

/** Reads the line before a chunk byte by byte: its length once the line has ended. What follows the digits says nothing to us. */
function createLengthLine(): (byte: number) => number | undefined {
  let length = 0;
  let digits = 0;
  let extended = false;
  return (byte) => {
    const digit = extended ? undefined : hexDigit(byte);
    if (digit !== undefined) {
      length = length * 16 + digit;
      digits += 1;
      if (digits > digitsMax) throw notChunked();
      return undefined;
    }
    if (digits === 0) throw notChunked();
    if (byte !== lineFeed) {
      if (!extended && !endsDigits.has(byte)) throw notChunked();
      extended = true;
      return undefined;
    }
    const read = length;
    length = 0;
    digits = 0;
    extended = false;
    return read;
  };
}

/** An extension begins with a semicolon, perhaps after white space. */
const endsDigits = new Set([carriageReturn, ...Buffer.from("; \t")]);

const notChunked = () => unreachable("a chunk of its answer has no length");

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
