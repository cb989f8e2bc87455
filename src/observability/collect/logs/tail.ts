import type { LogFile } from "../../../base/machine/log-file.ts";
import { createLogWalk, type LogPlace } from "../../../base/machine/log-walk.ts";
import { createDockerEntries, type DockerLine, type KeepsLine } from "../../core/logs/docker-entries.ts";

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

/** Reads the output of one container from Docker's files, from where it was left off, across rotations. */
export function createTail(path: string, start: TailPosition | undefined, keeps: KeepsLine): Tail {
  let position = start;
  /** Lines up to this time were read from a file that is gone: they are not asked about twice. */
  let readUntil: number | undefined;
  let missing: number | undefined;
  const newEntries = () => createDockerEntries((at) => (readUntil === undefined || at > readUntil) && keeps(at));
  let entries = newEntries();
  let quietSince: number | undefined;

  const begin = (files: readonly LogFile[]): LogPlace | undefined => {
    if (start === undefined) return undefined;
    const index = files.findIndex((file) => isSame(file.identity(), start.file) && file.size() >= start.offset);
    if (index >= 0) return { index, offset: start.offset };
    // What comes next cannot be recognised by its place, only by its time.
    readUntil = start.at;
    missing = start.at;
    return undefined;
  };

  let isRead = false;
  const walk = createLogWalk({
    path,
    begin,
    onEntry(bytes, from, end) {
      isRead = true;
      entries.push(bytes, from, end);
    },
    onLost() {
      missing ??= position?.at;
    },
  });

  const handOut = (isDone: boolean): TailStep => {
    let lines = entries.take();
    const place = entries.isPartial() ? undefined : walk.place();
    if (readUntil !== undefined) {
      const mark = readUntil;
      lines = lines.filter(({ at }) => at > mark);
      if (lines.length > 0) readUntil = undefined;
    }
    const last = lines.at(-1)?.at ?? position?.at;
    if (place?.file !== undefined && last !== undefined)
      position = { file: place.file, offset: place.offset, at: last };
    const gap = missing === undefined || lines[0] === undefined ? undefined : { from: missing, until: lines[0].at };
    if (gap !== undefined) missing = undefined;
    return { lines, gap, isDone };
  };

  return {
    step(bytes, now) {
      isRead = false;
      const isDone = walk.step(bytes);
      if (isRead) quietSince = undefined;
      if (!isDone) return handOut(false);
      quietSince ??= now;
      if (entries.isPartial() && now - quietSince >= partialMs) entries.giveUp();
      return handOut(true);
    },
    isQuiet: () => !entries.isPartial() && walk.isQuiet(),
    position: () => position,
    close() {
      walk.close();
      entries = newEntries();
    },
  };
}

/** A compressed copy has another number, and the same beginning. */
function isSame(identity: string | undefined, wanted: string): boolean {
  return identity !== undefined && identity.slice(identity.indexOf("-")) === wanted.slice(wanted.indexOf("-"));
}
