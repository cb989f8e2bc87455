/** A text that grows and is read by any number of followers from its beginning. */
export interface Transcript {
  write(text: string): void;
  /** Nothing comes after this. */
  end(): void;
  readonly ended: boolean;
  /** All that is kept. */
  text(): string;
  /** From the first kept character to the end; a reader that leaves stops reading. */
  follow(signal: AbortSignal): AsyncGenerator<string>;
}

/** Keeps the last `charsMax` characters; a follower that is further behind than that misses what was dropped. */
export function createTranscript(charsMax: number): Transcript {
  let kept = "";
  /** Characters dropped from the beginning so far. */
  let dropped = 0;
  let ended = false;
  let wake: (() => void)[] = [];

  function stir(): void {
    const sleepers = wake;
    wake = [];
    for (const resolve of sleepers) resolve();
  }

  return {
    write(text) {
      if (ended) return;
      kept += text;
      if (kept.length > charsMax) {
        dropped += kept.length - charsMax;
        kept = kept.slice(-charsMax);
      }
      stir();
    },
    end() {
      ended = true;
      stir();
    },
    get ended() {
      return ended;
    },
    text: () => kept,
    async *follow(signal) {
      let position = 0;
      while (!signal.aborted) {
        const from = Math.max(position, dropped);
        const fresh = kept.slice(from - dropped);
        position = from + fresh.length;
        if (fresh !== "") yield fresh;
        else if (ended) return;
        else await new Promise<void>((resolve) => wakeOn(resolve, signal));
      }
    },
  };

  function wakeOn(resolve: () => void, signal: AbortSignal): void {
    wake.push(resolve);
    signal.addEventListener("abort", resolve, { once: true });
  }
}

/** What a caller follows. */
export interface ReleaseStream {
  scope: string;
  name: string;
  releaseId: string;
  transcript: Transcript;
}
