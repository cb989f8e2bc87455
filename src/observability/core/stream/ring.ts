import type { Topic } from "../../api/stream.ts";
import type { StreamFilter } from "./filter.ts";

/** Something that happened, as clients get it. */
export interface StreamEvent {
  /** Type of the server-sent event. */
  type: string;
  topic: Topic;
  /** The data for a client; undefined where it gets none. */
  dataFor(filter: StreamFilter): string | undefined;
}

interface Kept extends StreamEvent {
  seq: number;
  bytes: number;
}

/** The last events, bounded in count and bytes, so that a client that comes back misses none. */
interface Ring {
  add(event: StreamEvent, bytes: number): number;
  /** Number of the newest event. */
  readonly last: number;
  /** Those after `seq`; undefined where some of them are gone already. */
  after(seq: number): Kept[] | undefined;
}

export function createRing(limits: { ringEvents: number; ringBytes: number }): Ring {
  let kept: Kept[] = [];
  let bytesKept = 0;
  let last = 0;
  /** Dropped in one go now and then: shifting a long list with every event costs more. */
  let start = 0;

  function trim(): void {
    while (kept.length - start > limits.ringEvents || bytesKept > limits.ringBytes) {
      bytesKept -= kept[start]?.bytes ?? 0;
      start += 1;
    }
    if (start < limits.ringEvents / 2) return;
    kept = kept.slice(start);
    start = 0;
  }

  return {
    add(event, bytes) {
      last += 1;
      kept.push({ ...event, seq: last, bytes });
      bytesKept += bytes;
      trim();
      return last;
    },
    get last() {
      return last;
    },
    after(seq) {
      if (seq > last) return undefined;
      const oldest = kept[start]?.seq ?? last + 1;
      if (seq + 1 < oldest) return undefined;
      return kept.slice(start + (seq + 1 - oldest));
    },
  };
}
