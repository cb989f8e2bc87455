/**
 * Output that grows and is read by any number of followers from its beginning, byte for byte: a command may print what
 * is not text.
 */
export interface Transcript {
  write(output: string | Uint8Array): void;
  /** A line of the platform's own, `-----> text`, also after output that did not end its last line. */
  heading(text: string): void;
  /** Nothing comes after this. */
  end(): void;
  readonly ended: boolean;
  /** All that is kept, as text. */
  text(): string;
  /** From the first kept byte to the end; a reader that leaves stops reading. */
  follow(signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

const newline = 10;

/** Keeps about the last `bytesMax` bytes; a follower that is further behind than that misses what was dropped. */
export function createTranscript(bytesMax: number): Transcript {
  const kept = createPieces(bytesMax);
  let ended = false;
  let wake: (() => void)[] = [];
  let inLine = false;

  function write(output: string | Uint8Array): void {
    const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
    if (ended || bytes.length === 0) return;
    kept.push(bytes.subarray(-bytesMax));
    inLine = bytes.at(-1) !== newline;
    stir();
  }

  function stir(): void {
    const sleepers = wake;
    wake = [];
    for (const resolve of sleepers) resolve();
  }

  function stirred(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      wake.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  return {
    write,
    heading: (text) => write(`${inLine ? "\n" : ""}-----> ${text}\n`),
    end() {
      ended = true;
      stir();
    },
    get ended() {
      return ended;
    },
    text: () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept.bytes().subarray(-bytesMax)),
    async *follow(signal) {
      let next = 0;
      while (!signal.aborted) {
        next = Math.max(next, kept.first());
        const piece = kept.at(next);
        if (piece !== undefined) {
          next += 1;
          yield piece;
        } else if (ended) return;
        else await stirred(signal);
      }
    },
  };
}

const nothing = new Uint8Array(0);

/** Pieces by their number, which stays theirs when earlier ones are dropped: a flood costs each piece once. */
function createPieces(bytesMax: number) {
  let pieces: Uint8Array[] = [];
  /** Dropped before `pieces` began, and inside of it. */
  let before = 0;
  let dropped = 0;
  let bytes = 0;

  function drop(): void {
    for (let oldest = pieces[dropped]; oldest !== undefined && bytes - oldest.length >= bytesMax;) {
      pieces[dropped] = nothing;
      dropped += 1;
      bytes -= oldest.length;
      oldest = pieces[dropped];
    }
    if (dropped * 2 <= pieces.length) return;
    pieces = pieces.slice(dropped);
    before += dropped;
    dropped = 0;
  }

  return {
    push(piece: Uint8Array): void {
      pieces.push(piece);
      bytes += piece.length;
      drop();
    },
    first: () => before + dropped,
    at: (number: number) => pieces[number - before],
    bytes: () => Buffer.concat(pieces),
  };
}

/** What a caller follows. */
export interface ReleaseStream {
  scope: string;
  name: string;
  releaseId: string;
  transcript: Transcript;
}
