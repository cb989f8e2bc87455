/** The parts of `source`, and `ping` whenever none has come for `everyMs`. A source that ends ends it. */
export async function* withPings(
  source: AsyncIterable<Uint8Array>,
  { ping, everyMs }: { ping: Uint8Array; everyMs: number },
): AsyncGenerator<Uint8Array> {
  const parts = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Uint8Array>> | undefined;
  try {
    for (;;) {
      next ??= parts.next();
      const result = await within(next, everyMs);
      if (result === undefined) yield ping;
      else if (result.done) return;
      else {
        next = undefined;
        yield result.value;
      }
    }
  } finally {
    parts.return?.().catch(() => undefined);
  }
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
