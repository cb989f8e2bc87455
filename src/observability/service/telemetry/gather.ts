import { Failure } from "../../../base/wire/failure.ts";
import type { Clock } from "../../../base/words/clock.ts";

interface GatherParts<T> {
  clock: Clock;
  gatherMs: number;
  waitingBytesMax: number;
  write: (key: string, items: T[]) => Promise<void>;
}

/** Puts what comes for one key within a moment into one write. */
interface Gather<T> {
  /** Resolves when all of them were written. Fails as the write does, and `unavailable` while too much waits. */
  add(key: string, items: readonly T[], bytes: number): Promise<void>;
}

export function createGather<T>({ clock, gatherMs, waitingBytesMax, write }: GatherParts<T>): Gather<T> {
  const waiting = new Map<string, { items: T[]; bytes: number; written: Promise<void> }>();
  let waitingBytes = 0;

  async function writeLater(key: string): Promise<void> {
    await clock.sleep(gatherMs, new AbortController().signal);
    const items = waiting.get(key)?.items ?? [];
    waiting.delete(key);
    await write(key, items);
  }

  return {
    async add(key, items, bytes) {
      if (items.length === 0) return;
      // No key takes the room of the others.
      const ownBytes = bytes + (waiting.get(key)?.bytes ?? 0);
      if (waitingBytes + bytes > waitingBytesMax || ownBytes > waitingBytesMax / 2)
        throw new Failure("unavailable", "too much telemetry waits to be written", { retryAfterSeconds: 1 });
      const known = waiting.get(key) ?? { items: [], bytes: 0, written: writeLater(key) };
      waiting.set(key, known);
      known.bytes += bytes;
      for (const item of items) known.items.push(item);
      waitingBytes += bytes;
      try {
        await known.written;
      } finally {
        waitingBytes -= bytes;
      }
    },
  };
}
