/** What came before the connection broke: the missing last line tells that it did. */
export async function* unbroken(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const pieces = (body ?? none())[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch(() => ({ done: true as const, value: undefined }));
    if (next.done === true) return;
    yield next.value;
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}
