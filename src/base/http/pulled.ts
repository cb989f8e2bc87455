interface PulledOptions {
  /** The reader has left. */
  onCancel?: () => void;
  /** All parts are read, or their source broke off. */
  onEnd?: () => void;
  /** How many parts are read before they are asked for. */
  ahead?: 0 | 1;
}

/** Parts as a body: a slow reader makes their source wait. What breaks off breaks the answer off. */
export function pulled(
  parts: AsyncIterable<Uint8Array | string>,
  { onCancel, onEnd, ahead = 1 }: PulledOptions = {},
): ReadableStream<Uint8Array> {
  const pieces = parts[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await pieces.next().catch((error: unknown) => {
          onEnd?.();
          throw error;
        });
        if (done !== true) return controller.enqueue(typeof value === "string" ? Buffer.from(value) : value);
        onEnd?.();
        controller.close();
      },
      async cancel() {
        onCancel?.();
        await pieces.return?.();
      },
    },
    { highWaterMark: ahead },
  );
}
