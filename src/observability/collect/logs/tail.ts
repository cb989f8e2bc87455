import { createDockerEntries, type DockerLine, type KeepsLine } from "../../core/logs/docker-entries.ts";
import { inodeOf, isUnchanged, type LogFile, openLogFile, rotatedPaths } from "./log-file.ts";

/** How far a log was read: `offset` bytes of the file `file`; `at` is the time of the last line. */
export interface TailPosition {
  file: string;
  offset: number;
  at: number;
}

interface TailStep {
  /** Those that are left out are among them, without their text. */
  lines: DockerLine[];
  /** Some lines were deleted before they could be read; they lie between these times. Epoch milliseconds. */
  gap: { from: number; until: number } | undefined;
  /** Nothing more to read for now. */
  isDone: boolean;
}

export interface Tail {
  /** Reads at most about `bytes`. `now`: steady milliseconds. */
  step(bytes: number, now: number): TailStep;
  /** Whether a step would find nothing: costs one look at the file. */
  isQuiet(): boolean;
  /** After the lines that were handed out; undefined before the first. */
  position(): TailPosition | undefined;
  close(): void;
}

/** The end of a line that was cut is waited for this long. */
const partialMs = 2_000;
const chunkBytes = 256 * 1024;
const heldBytesMax = 4 * chunkBytes;
/** Shared by all: nothing is kept in it between two steps. */
const chunk = Buffer.allocUnsafe(chunkBytes);

/**
 * Reads the files of Docker's json-file driver: those of one container, from where it was left off, across rotations.
 * Holding the file open keeps what is in it when the container is removed.
 */
export function createTail(path: string, start: TailPosition | undefined, keeps: KeepsLine): Tail {
  let file: LogFile | undefined;
  let offset = 0;
  let position = start;
  let held: Buffer = Buffer.alloc(0);
  // What was read from a file that is gone is not asked about twice.
  const newEntries = () => createDockerEntries((at) => (readUntil === undefined || at > readUntil) && keeps(at));
  let entries = newEntries();
  let quietSince: number | undefined;
  /** Lines up to this time were read from a file that is gone. */
  let readUntil: number | undefined;
  let missing: number | undefined;

  const use = (next: LogFile | undefined, at = 0) => {
    file?.close();
    file = next;
    offset = at;
    held = Buffer.alloc(0);
  };

  const begin = () => {
    const paths = rotatedPaths(path).reverse();
    if (start === undefined) return use(firstOf(paths));
    for (const one of paths) {
      const candidate = openLogFile(one);
      if (candidate === undefined) continue;
      if (candidate.identity() === start.file && candidate.size() >= start.offset) return use(candidate, start.offset);
      candidate.close();
    }
    // What comes next cannot be recognised by its place, only by its time.
    readUntil = start.at;
    missing = start.at;
    use(firstOf(paths));
  };

  /** After a file that was read to its end: the one that Docker began next. False where that is still the same one. */
  const rotated = (): boolean => {
    if (file === undefined) return false;
    const paths = rotatedPaths(path);
    const place = paths.findIndex((one) => inodeOf(one) === file?.inode);
    if (place === 0) {
      if (file.size() >= offset) return false;
      // Emptied in place.
      missing = position?.at;
      use(file === undefined ? undefined : openLogFile(path));
      return true;
    }
    if (place < 0 && inodeOf(path) === undefined) return false;
    if (place < 0) missing = position?.at;
    const next = openLogFile(place < 0 ? (paths.at(-1) ?? path) : (paths[place - 1] ?? path));
    if (next === undefined) return false;
    use(next);
    return true;
  };

  /** Whether bytes came. */
  const read = (): boolean => {
    const count = file?.read(chunk, offset + held.length) ?? 0;
    if (count === 0) return false;
    const fresh = chunk.subarray(0, count);
    const bytes = held.length === 0 ? fresh : Buffer.concat([held, fresh]);
    let from = 0;
    for (let end = bytes.indexOf(10, held.length); end >= 0; end = bytes.indexOf(10, from)) {
      entries.push(bytes, from, end);
      from = end + 1;
    }
    offset += from;
    held = Buffer.from(bytes.subarray(from));
    if (held.length > heldBytesMax) {
      // Not what the driver writes: read on behind it.
      offset += held.length;
      held = Buffer.alloc(0);
    }
    return true;
  };

  const handOut = (isDone: boolean): TailStep => {
    let lines = entries.take();
    const identity = entries.isPartial() ? undefined : file?.identity();
    if (readUntil !== undefined) {
      const mark = readUntil;
      lines = lines.filter(({ at }) => at > mark);
      if (lines.length > 0) readUntil = undefined;
    }
    const last = lines.at(-1)?.at ?? position?.at;
    if (identity !== undefined && last !== undefined) position = { file: identity, offset, at: last };
    const gap = missing === undefined || lines[0] === undefined ? undefined : { from: missing, until: lines[0].at };
    if (gap !== undefined) missing = undefined;
    return { lines, gap, isDone };
  };

  return {
    step(bytes, now) {
      if (file === undefined) begin();
      if (file === undefined) return { lines: [], gap: undefined, isDone: true };
      for (let done = 0; done < bytes; done += chunkBytes) {
        if (read()) {
          quietSince = undefined;
          continue;
        }
        // Once more after the look: what was written between the two belongs to the old file.
        const moved = inodeOf(path) !== file.inode && !read() && rotated();
        if (moved || (file !== undefined && file.size() < offset && rotated())) continue;
        quietSince ??= now;
        if (entries.isPartial() && now - quietSince >= partialMs) entries.giveUp();
        return handOut(true);
      }
      return handOut(false);
    },
    isQuiet: () =>
      file !== undefined &&
      !entries.isPartial() &&
      isUnchanged(path, { inode: file.inode, size: offset + held.length }),
    position: () => position,
    close() {
      file?.close();
      file = undefined;
      entries = newEntries();
    },
  };
}

function firstOf(paths: readonly string[]): LogFile | undefined {
  for (const path of paths) {
    const file = openLogFile(path);
    if (file !== undefined) return file;
  }
  return undefined;
}
