/** What can be written to until it is full, and given up. */
interface Sink {
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** Resolves once more can be written, also when the sink is given up. */
export function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    const ready = () => {
      sink.off("drain", ready);
      sink.off("close", ready);
      resolve();
    };
    sink.on("drain", ready);
    sink.on("close", ready);
  });
}
