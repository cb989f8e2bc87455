import { watchOnce } from "../../../base/machine/log-file.ts";
import type { LogWalk } from "../../../base/machine/log-walk.ts";

interface Lookout {
  /** Resolves when there may be something to read; with false when `limitMs` have passed before. */
  changed(limitMs?: number): Promise<boolean>;
  ring(): void;
  close(): void;
}

/** Between two looks at a file that is written fast: Docker may delete what it began a moment ago. */
const fastLookMs = 1;
/** Between two looks at a file that is being written. */
const lookMs = 16;
/** So many bytes in a millisecond are fast. */
const fastBytes = 256;
/** A file that has not grown for so many looks is watched, and looked at rarely: not every file system tells of changes. */
const idleLooksMax = 8;
const quietLookMs = 2_000;

/**
 * Looks whether a log has grown, and opens what Docker begins, whether or not somebody reads on just now: a slow reader
 * must not lose what Docker deletes meanwhile.
 */
export function createLookout(path: string, walk: Pick<LogWalk, "hold">): Lookout {
  let bell = Promise.withResolvers<void>();
  let timer: Timer | undefined;
  let unwatch: (() => void) | undefined;
  let idleLooks = 0;
  let isFast = false;
  let lookedAt = performance.now();
  let isClosed = false;

  const look = () => {
    const { isReadable, grown } = walk.hold();
    if (isReadable) bell.resolve();
    idleLooks = grown > 0 ? 0 : idleLooks + 1;
    const now = performance.now();
    isFast = grown > fastBytes * Math.max(now - lookedAt, 1);
    lookedAt = now;
  };
  const rest = () => {
    clearTimeout(timer);
    unwatch?.();
    unwatch = undefined;
  };
  const turn = () => {
    rest();
    if (isClosed) return;
    try {
      look();
      if (idleLooks >= idleLooksMax) {
        unwatch = watchOnce(path, turn).end;
        // What was written before the watch began.
        look();
      }
    } catch {
      // The reader meets the same error, and tells it.
      bell.resolve();
    }
    const pauseMs = isFast ? fastLookMs : lookMs;
    timer = setTimeout(turn, idleLooks >= idleLooksMax ? quietLookMs : pauseMs);
  };
  turn();

  return {
    async changed(limitMs) {
      const late = Promise.withResolvers<boolean>();
      const limit = limitMs === undefined ? undefined : setTimeout(() => late.resolve(false), limitMs);
      try {
        return await Promise.race([late.promise, bell.promise.then(() => true)]);
      } finally {
        clearTimeout(limit);
        bell = Promise.withResolvers();
      }
    },
    ring: () => bell.resolve(),
    close() {
      isClosed = true;
      rest();
    },
  };
}
