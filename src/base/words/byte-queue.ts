/**
 * Bytes between a source that pushes and a consumer that pulls. The source has to pause while more than
 * `highBytes` wait, so that memory stays bounded whatever the consumer does.
 */
export interface ByteQueue extends AsyncIterable<Uint8Array> {
  push(chunk: Uint8Array): void;
  /** No more comes: the consumer ends once it has taken what waits. */
  end(): void;
  /** The consumer wants no more: what waits and what still comes is dropped, the source is never paused again. */
  drop(): void;
  /** `end` or `drop` was called. */
  readonly ended: boolean;
}

export function createByteQueue({
  highBytes,
  pause,
  resume,
}: {
  highBytes: number;
  pause: () => void;
  resume: () => void;
}): ByteQueue {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let paused = false;
  let ended = false;
  let wake: (() => void) | undefined;

  const wakeUp = () => {
    wake?.();
    wake = undefined;
  };
  const letGo = (bytes: number) => {
    waitingBytes -= bytes;
    if (!paused || waitingBytes > highBytes / 2) return;
    paused = false;
    resume();
  };

  return {
    push(chunk) {
      if (ended || chunk.length === 0) return;
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes > highBytes && !paused) {
        paused = true;
        pause();
      }
      wakeUp();
    },
    end() {
      ended = true;
      wakeUp();
    },
    drop() {
      ended = true;
      waiting = [];
      letGo(waitingBytes);
      wakeUp();
    },
    get ended() {
      return ended;
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk !== undefined) {
          yield chunk;
          // Counted until the consumer is done with it. After a drop everything is let go already.
          if (waitingBytes > 0) letGo(chunk.length);
        } else if (ended) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
