/** Who reads the log of a container just now. For a reader of one that is removed it silently ends there. */
export interface LogReaders {
  /** From now on somebody reads it: until the stream that `open` makes has ended or `signal` aborts, or `open` fails. */
  reading(
    name: string,
    signal: AbortSignal,
    open: () => Promise<AsyncIterable<Uint8Array>>,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Resolves when it has no reader. */
  gone(name: string): Promise<void>;
}

export function createLogReaders(): LogReaders {
  const readers = new Map<string, number>();
  let moved = Promise.withResolvers<void>();

  function enter(name: string): () => void {
    readers.set(name, (readers.get(name) ?? 0) + 1);
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const left = (readers.get(name) ?? 1) - 1;
      if (left > 0) readers.set(name, left);
      else readers.delete(name);
      moved.resolve();
      moved = Promise.withResolvers();
    };
  }

  return {
    async reading(name, signal, open) {
      const leave = enter(name);
      signal.addEventListener("abort", leave, { once: true });
      try {
        return left(await open(), leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
    async gone(name) {
      while (readers.has(name)) await moved.promise;
    },
  };
}

async function* left(bytes: AsyncIterable<Uint8Array>, leave: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    leave();
  }
}
