/** A text that grows and is read by any number of followers from its beginning. */
export interface Transcript {
  write(text: string): void;
  /** A line of the platform's own, `-----> text`, also after output that did not end its last line. */
  heading(text: string): void;
  /** Nothing comes after this. */
  end(): void;
  readonly ended: boolean;
  /** All that is kept. */
  text(): string;
  /** From the first kept character to the end; a reader that leaves stops reading. */
  follow(signal: AbortSignal): AsyncGenerator<string>;
}

/** Keeps about the last `charsMax` characters; a follower that is further behind than that misses what was dropped. */
export function createTranscript(charsMax: number): Transcript {
  const kept = createPieces(charsMax);
  let ended = false;
  let wake: (() => void)[] = [];
  let inLine = false;

  function write(text: string): void {
    if (ended || text === "") return;
    kept.push(text.slice(-charsMax));
    inLine = !text.endsWith("\n");
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
    text: () => kept.text().slice(-charsMax),
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

/** Pieces by their number, which stays theirs when earlier ones are dropped: a flood costs each piece once. */
function createPieces(charsMax: number) {
  let pieces: string[] = [];
  /** Dropped before `pieces` began, and inside of it. */
  let before = 0;
  let dropped = 0;
  let chars = 0;

  function drop(): void {
    for (let oldest = pieces[dropped]; oldest !== undefined && chars - oldest.length >= charsMax;) {
      pieces[dropped] = "";
      dropped += 1;
      chars -= oldest.length;
      oldest = pieces[dropped];
    }
    if (dropped * 2 <= pieces.length) return;
    pieces = pieces.slice(dropped);
    before += dropped;
    dropped = 0;
  }

  return {
    push(piece: string): void {
      pieces.push(piece);
      chars += piece.length;
      drop();
    },
    first: () => before + dropped,
    at: (number: number) => pieces[number - before],
    text: () => pieces.join(""),
  };
}

/** What a caller follows. */
export interface ReleaseStream {
  scope: string;
  name: string;
  releaseId: string;
  transcript: Transcript;
}
