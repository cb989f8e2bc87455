/**
 * The bytes of `source` in larger pieces: what is there within one turn of the event loop comes as one, up to
 * `bytesMax` and the last part. Nothing is held back for longer, and no more is read ahead than one piece.
 *
 * A consumer that leaves early must also make `source` end: it may be waiting for its next part.
 */
export async function* batched(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  const parts = source[Symbol.asyncIterator]();
  let next = step(parts);
  try {
    for (;;) {
      const first = bytesOf(await next);
      if (first === undefined) return;
      next = step(parts);
      const batch = [first];
      let bytes = first.length;
      const over = nextTurn();
      while (bytes < bytesMax) {
        const ready = await Promise.race([next, over]);
        if (ready === undefined || "error" in ready || ready.done) break;
        next = step(parts);
        batch.push(ready.value);
        bytes += ready.value.length;
      }
      yield batch.length === 1 ? first : Buffer.concat(batch);
    }
  } finally {
    parts.return?.().catch(() => undefined);
  }
}

type Step = IteratorResult<Uint8Array, unknown> | { error: unknown };

/** Never rejects: an error waits until what came before it is handed out. */
function step(parts: AsyncIterator<Uint8Array, unknown>): Promise<Step> {
  return parts.next().catch((error: unknown) => ({ error }));
}

function bytesOf(result: Step): Uint8Array | undefined {
  if ("error" in result) throw result.error;
  return result.done ? undefined : result.value;
}

function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(resolve, undefined));
}
