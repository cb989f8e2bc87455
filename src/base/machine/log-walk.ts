import { createLogChain } from "./log-chain.ts";
import { headOf, isUnchanged, type LogFile } from "./log-file.ts";

/** A place in files that are ordered oldest first; `offset` in bytes, where an entry begins. */
export interface LogPlace {
  index: number;
  offset: number;
}

/** A search in files that may be long: each `next` reads a little of them, or gives what has to be waited for. */
export type LogSearch = Generator<Promise<void> | undefined, LogPlace | undefined>;

interface LogWalkOptions {
  /** Path of the file that Docker writes: `…-json.log`. */
  path: string;
  /** Where to begin in the files that there are; undefined for the beginning. Asked until there is a file. */
  begin?(files: readonly LogFile[]): LogPlace | LogSearch | undefined;
  /** Reads only what is there when it begins. */
  isPresentOnly?: boolean;
  /** Compressed files are unpacked beside everything else: see `waits`. */
  isBeside?: boolean;
  /** An entry of the file, without its line break: the bytes from `from` to `end`. */
  onEntry(bytes: Buffer, from: number, end: number): void;
  /** Called before the first entry behind a gap: entries were deleted before they could be read. */
  onLost(): void;
}

export interface LogWalk {
  /** Reads at most about `bytes`. True where there is nothing more for now. */
  step(bytes: number): boolean;
  /** What has to be waited for before the next step; undefined for nothing. */
  waits(): Promise<void> | undefined;
  /** Opens files that Docker has begun, so that they can be read after it deletes them. Tells what a step would find. */
  hold(): {
    isReadable: boolean;
    /** Bytes that were written since the last call; without end where another file was begun. */
    grown: number;
  };
  /** Whether a step would find nothing: costs one look at the file. */
  isQuiet(): boolean;
  /** After the entries that were handed out. Undefined where nothing is open. */
  place(): { file: string | undefined; offset: number } | undefined;
  close(): void;
}

const chunkBytes = 256 * 1024;
const heldBytesMax = 4 * chunkBytes;
/** Shared by all: nothing is kept in it between two steps. */
const chunk = Buffer.allocUnsafe(chunkBytes);

/**
 * Reads the files of Docker's json-file driver entry by entry, each once and in order, across rotations. Holding the files
 * open keeps what is in them when Docker deletes them or the container is removed.
 */
export function createLogWalk(options: LogWalkOptions): LogWalk {
  const { path, begin, isPresentOnly = false, isBeside = false, onEntry, onLost } = options;
  const chain = createLogChain(path);
  let offset = 0;
  /** Beginning of an entry whose end is still to come. */
  let held: Buffer = Buffer.alloc(0);
  /** Beginning of the file: another one in its place was written after the file was emptied. */
  let head: string | undefined;
  let hasBegun = false;
  /** For the place to begin; nothing else happens to the files meanwhile. */
  let search: LogSearch | undefined;
  let waiting: Promise<void> | undefined;
  /** Where a reading of what is there ends. */
  let end: { file: LogFile; size: number } | undefined;
  let seen: { newest: LogFile | undefined; size: number } = { newest: undefined, size: 0 };

  const moveTo = (at: number) => {
    offset = at;
    held = Buffer.alloc(0);
    head = at === 0 ? undefined : chain.first()?.head();
  };

  const beginAt = ({ index, offset }: LogPlace = { index: 0, offset: 0 }) => {
    hasBegun = true;
    chain.drop(index);
    moveTo(offset);
  };

  const start = () => {
    chain.refresh();
    const files = [...chain.all()];
    const newest = files.pop();
    if (newest === undefined) return;
    // What is written meanwhile counts neither for where to begin nor for where to end.
    const size = newest.size();
    if (isPresentOnly) end = { file: newest, size };
    const found = begin?.([...files, { ...newest, size: () => size }]);
    if (found !== undefined && "next" in found) search = found;
    else beginAt(found);
  };

  const searchOn = () => {
    const found = search?.next();
    if (found?.done !== true) {
      waiting = found?.value;
      return;
    }
    search = undefined;
    beginAt(found.value);
    if (offset === 0 || offset <= (chain.first()?.size() ?? 0)) return;
    // Docker emptied the file during the search.
    moveTo(0);
    onLost();
  };

  /** Docker empties a file that is full where it keeps only one: what was read then is of the new contents. */
  const isEmptied = (file: LogFile): boolean => head !== undefined && file.inode !== undefined && file.head() !== head;

  const take = (fresh: Buffer) => {
    const bytes = held.length === 0 ? fresh : Buffer.concat([held, fresh]);
    if (offset === 0) head ??= headOf(bytes);
    let from = 0;
    for (let end = bytes.indexOf(10, held.length); end >= 0; end = bytes.indexOf(10, from)) {
      onEntry(bytes, from, end);
      from = end + 1;
    }
    offset += from;
    held = Buffer.from(bytes.subarray(from));
    if (held.length <= heldBytesMax) return;
    // Not what the driver writes: read on behind it.
    offset += held.length;
    held = Buffer.alloc(0);
  };

  /** Whether bytes came. */
  const read = (limit: number): boolean => {
    const file = chain.first();
    if (file === undefined) return false;
    const at = offset + held.length;
    const left = end?.file === file ? Math.max(end.size - at, 0) : chunkBytes;
    const count = left === 0 ? 0 : file.read(chunk.subarray(0, Math.min(chunkBytes, limit, left)), at);
    if (isEmptied(file)) {
      moveTo(0);
      onLost();
      return true;
    }
    if (count === 0) return false;
    take(chunk.subarray(0, count));
    return true;
  };

  return {
    step(bytes) {
      waiting = undefined;
      if (!hasBegun && search === undefined) start();
      if (search !== undefined) {
        searchOn();
        return false;
      }
      if (chain.first() === undefined) return true;
      for (let left = bytes; left > 0; left -= chunkBytes) {
        waiting = isBeside ? chain.first()?.ready() : undefined;
        if (waiting !== undefined) return false;
        if (read(bytes)) continue;
        if (chain.first() === end?.file || !chain.refresh()) return true;
        // Once more after the look: what was written between the two belongs to the old file.
        if (read(bytes)) continue;
        const { lost } = chain.next();
        moveTo(0);
        if (lost) onLost();
      }
      return false;
    },
    waits: () => waiting,
    hold() {
      if (!hasBegun && search === undefined) start();
      if (search !== undefined) return { isReadable: true, grown: 0 };
      const hasNext = chain.refresh();
      const [file, newest] = [chain.first(), chain.all().at(-1)];
      if (file === undefined || newest === undefined) return { isReadable: false, grown: 0 };
      const size = newest.size();
      const grown = newest === seen.newest ? Math.abs(size - seen.size) : Number.POSITIVE_INFINITY;
      seen = { newest, size };
      return { isReadable: hasNext || size !== offset + held.length, grown };
    },
    isQuiet() {
      const file = chain.first();
      return file !== undefined && isUnchanged(path, { inode: file.inode, size: offset + held.length });
    },
    place() {
      const file = chain.first();
      return file === undefined ? undefined : { file: file.identity(), offset };
    },
    close: chain.close,
  };
}
