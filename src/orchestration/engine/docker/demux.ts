import type { Pipe } from "./pipe.ts";

/** One piece of a container's output. */
interface OutputPart {
  stream: "stdout" | "stderr";
  bytes: Uint8Array;
}

const headBytes = 8;

/**
 * Takes the engine's framing of output without a terminal apart: a head of 8 bytes (stream, three zeros, length in big
 * endian), then as many bytes. Chunks may be cut anywhere; what has arrived of a frame is handed on at once, as parts
 * of the chunk's own memory, pieces of one stream that follow each other as one.
 * Source: Docker Engine API, "Attach to a container", stream format.
 */
export function createDemuxer(): (chunk: Uint8Array) => OutputPart[] {
  const head = new Uint8Array(headBytes);
  const view = new DataView(head.buffer);
  let headFilled = 0;
  let left = 0;
  return (chunk) => {
    const runs: Run[] = [];
    for (let at = 0; at < chunk.length;) {
      if (left === 0) {
        const taken = Math.min(headBytes - headFilled, chunk.length - at);
        head.set(chunk.subarray(at, at + taken), headFilled);
        at += taken;
        headFilled += taken;
        if (headFilled < headBytes) break;
        headFilled = 0;
        left = view.getUint32(4);
        continue;
      }
      const taken = Math.min(left, chunk.length - at);
      append(runs, head[0] === 2 ? "stderr" : "stdout", chunk.subarray(at, at + taken));
      at += taken;
      left -= taken;
    }
    return runs.map(({ stream, pieces }) => ({ stream, bytes: joined(pieces) }));
  };
}

interface Run {
  stream: OutputPart["stream"];
  pieces: Uint8Array[];
}

function append(runs: Run[], stream: OutputPart["stream"], piece: Uint8Array): void {
  const run = runs.at(-1);
  if (run?.stream === stream) run.pieces.push(piece);
  else runs.push({ stream, pieces: [piece] });
}

function joined(pieces: Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

/** Everything that comes out of a hijacked connection, until its end; on a terminal there is one stream and no framing. */
export async function* pipeOutput(pipe: Pipe, tty: boolean): AsyncGenerator<OutputPart> {
  const demux = createDemuxer();
  for (;;) {
    const bytes = await pipe.read();
    if (bytes === undefined) return;
    if (tty) yield { stream: "stdout", bytes };
    else yield* demux(bytes);
  }
}
