import { hasFile, inodeOf, isNamed, type LogFile, openLogFile } from "./log-file.ts";

/** Files of one log that are held open, oldest first. */
interface LogChain {
  /** The one that is read; undefined where the log has no files. */
  first(): LogFile | undefined;
  /** Opens what Docker has begun since. True where the file that is read has a next one, and so gets no more. */
  refresh(): boolean;
  /** Goes on to the next file. Tells whether files between the two were deleted before they could be opened. */
  next(): { lost: boolean };
  all(): readonly LogFile[];
  /** Releases the oldest `count` files. */
  drop(count: number): void;
  close(): void;
}

/** Docker keeps at most so many files that a look finds. */
const filesSeenMax = 1_000;
/** Docker may be renaming files, for less than a millisecond unless the machine is busy: then it is given time. */
const triesMax = 100;
const quickTries = 50;
const pauseMs = 1;
/** What is held of files that Docker has deleted: a reader that is stalled must not fill the disk. Others cost nothing. */
const filesMax = 256;
const bytesMax = 64 * 1024 * 1024;

interface Held {
  file: LogFile;
  lost: boolean;
}

/**
 * The files of Docker's json-file driver for one container: `path`, and with `.1`, `.2` and so on those that were rotated
 * away, compressed ones too. Docker renames the oldest first and deletes the last.
 */
export function createLogChain(path: string): LogChain {
  let held: Held[] = [];

  /** The oldest of those that are not read yet go first. */
  const keepBounds = () => {
    let bytes = 0;
    for (const { file } of held.slice(1)) bytes += file.heldBytes();
    while (held.length > 2 && (held.length > filesMax || bytes > bytesMax)) {
      const [oldest] = held.splice(1, 1);
      const then = held[1];
      if (oldest === undefined || then === undefined) return;
      bytes -= oldest.file.heldBytes();
      oldest.file.close();
      then.lost = true;
    }
  };

  const join = () => {
    const newest = held.at(-1)?.file;
    const { files, isWhole } = openNewer(path, newest);
    for (const [at, file] of files.entries()) held.push({ file, lost: at === 0 && !isWhole });
    if (held.length > 2) keepBounds();
  };

  return {
    first: () => held[0]?.file,
    refresh() {
      const newest = held.at(-1)?.file;
      if (newest === undefined || inodeOf(path) !== newest.inode) join();
      return held.length > 1;
    },
    next() {
      held.shift()?.file.close();
      return { lost: held[0]?.lost ?? false };
    },
    all: () => held.map(({ file }) => file),
    drop(count) {
      for (const { file } of held.splice(0, count)) file.close();
    },
    close() {
      for (const { file } of held) file.close();
      held = [];
    },
  };
}

interface Newer {
  /** Oldest first. */
  files: LogFile[];
  /** Whether none can be missing before the first. */
  isWhole: boolean;
}

/** Opens all files that were begun after `known`, or all that there are. */
function openNewer(path: string, known: LogFile | undefined): Newer {
  for (let tries = 0; tries < triesMax; tries++) {
    const found = lookOnce(path, known);
    if (found !== undefined) return found;
    if (inodeOf(path) === undefined && inodeOf(`${path}.1`) === undefined) return { files: [], isWhole: true };
    if (tries >= quickTries) Bun.sleepSync(pauseMs);
  }
  // A name is missing for good.
  const newest = openLogFile(path);
  return { files: newest === undefined ? [] : [newest], isWhole: false };
}

/**
 * From the newest name to the oldest. A file that still has its name once the one of the next name is open had it all the
 * time, for names only grow: so that one is its neighbour. Undefined where Docker renamed files meanwhile.
 */
function lookOnce(path: string, known: LogFile | undefined): Newer | undefined {
  const files: LogFile[] = [];
  const giveUp = () => {
    for (const file of files) file.close();
    return undefined;
  };
  for (let place = 0; place < filesSeenMax; place++) {
    const file = openLogFile(nameAt(path, place));
    const newer = files.at(-1);
    const isSteady = newer === undefined || isNamed(nameAt(path, place - 1), newer) === true;
    const isKnown = file !== undefined && known !== undefined && isSame(file, known);
    // One name is missing while Docker renames.
    const isHole = file === undefined && (place === 0 || hasFile(nameAt(path, place + 1)));
    if (file !== undefined && (isKnown || !isSteady)) file.close();
    if (!isSteady || isHole) return giveUp();
    if (file === undefined || isKnown) return { files: files.reverse(), isWhole: isKnown || known === undefined };
    files.push(file);
  }
  return { files: files.reverse(), isWhole: false };
}

function nameAt(path: string, place: number): string {
  return place === 0 ? path : `${path}.${place}`;
}

function isSame(file: LogFile, known: LogFile): boolean {
  return file.inode === undefined || known.inode === undefined
    ? file.head() === known.head()
    : file.inode === known.inode;
}
