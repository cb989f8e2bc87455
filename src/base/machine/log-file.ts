import { closeSync, fstatSync, openSync, readSync, statfsSync, statSync, watch } from "node:fs";
import { constants, createGunzip, gunzipSync } from "node:zlib";

const headBytes = 4_096;
/** So much of a compressed file holds the beginning that identifies it. */
const packedHeadBytes = 8_192;
/** A compressed file is unpacked in memory: one that has more is not read. */
const unpackedBytesMax = 256 * 1024 * 1024;
const unpackedPartBytes = 256 * 1024;

/** An open log file of Docker. It stays readable when Docker renames or deletes it. */
export interface LogFile {
  /** Undefined for a compressed file, which is another file than the one that it was made of. */
  inode: number | undefined;
  /** Number and beginning of the file: a number alone is used again. Undefined until its first line is complete. */
  identity(): string | undefined;
  /** Stands for the beginning of the file as it is now; the same for a compressed copy. Undefined until its first line is complete. */
  head(): string | undefined;
  size(): number;
  /** What it takes of the disk because it is open: nothing while it has a name. */
  heldBytes(): number;
  read(into: Buffer, at: number): number;
  /**
   * Undefined where its size and its bytes are at hand. Else it begins to unpack them, beside everything else, and resolves
   * when they are; it never rejects. Without it, a reading unpacks them at once, which takes a second for 100 MB.
   */
  ready(): Promise<void> | undefined;
  /** Releases what it unpacked, which takes memory; it is unpacked again when it is read. */
  rest(): void;
  close(): void;
}

/** A watch of a file that ends with its first change. */
export interface FileWatch {
  /** Whether each change is noticed. Where it is not, the file has to be looked at. */
  isSure: boolean;
  end(): void;
}

/**
 * File systems of which the kernel notices every change, by their numbers: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs and
 * overlayfs. Source: statfs(2), magic.h.
 */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630]);

/**
 * Calls `onChange` once, soon after something happens to the file at `path`. Does nothing where files cannot be watched, such
 * as on some network file systems or when the kernel has no watch left.
 */
export function watchOnce(path: string, onChange: () => void): FileWatch {
  try {
    const watcher = watch(path, { persistent: false });
    const end = () => watcher.close();
    const changed = () => {
      end();
      onChange();
    };
    watcher.once("change", changed);
    const watched = { isSure: localTypes.has(statfsSync(path).type), end };
    watcher.once("error", () => {
      watched.isSure = false;
      end();
    });
    return watched;
  } catch {
    return { isSure: false, end: () => undefined };
  }
}

/** The file itself, or else its compressed copy; undefined where there is neither. */
export function openLogFile(path: string): LogFile | undefined {
  const file = open(path);
  if (file !== undefined) return plainFile(file);
  const packed = open(`${path}.gz`);
  return packed === undefined ? undefined : packedFile(packed);
}

function open(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function plainFile(file: number): LogFile {
  const inode = fstatSync(file).ino;
  let identity: string | undefined;
  const head = () => {
    const bytes = Buffer.alloc(headBytes);
    return headOf(bytes.subarray(0, readSync(file, bytes, 0, headBytes, 0)));
  };
  return {
    inode,
    identity() {
      if (identity === undefined) {
        const beginning = head();
        identity = beginning === undefined ? undefined : `${inode}-${beginning}`;
      }
      return identity;
    },
    head,
    size: () => fstatSync(file).size,
    heldBytes: () => heldBytes(file),
    read: (into, at) => readSync(file, into, 0, into.length, at),
    ready: () => undefined,
    rest: () => undefined,
    close: () => closeSync(file),
  };
}

/** Unpacked when it is read first. */
function packedFile(file: number): LogFile {
  const inode = fstatSync(file).ino;
  let parts: Buffer[] | undefined;
  let unpacking: Promise<void> | undefined;
  /** What reads it then meets the error. */
  let hasFailed = false;
  const unpacked = () => (parts ??= [gunzipSync(wholeOf(file), { maxOutputLength: unpackedBytesMax })]);
  const unpack = async () => {
    try {
      parts = await unpackedBeside(wholeOf(file));
    } catch {
      hasFailed = true;
    }
    unpacking = undefined;
  };
  const head = () => packedHead(file);
  return {
    inode: undefined,
    identity() {
      const beginning = head();
      return beginning === undefined ? undefined : `${inode}-${beginning}`;
    },
    head,
    size: () => unpacked().reduce((total, { length }) => total + length, 0),
    heldBytes: () => heldBytes(file),
    read: (into, at) => copyParts(unpacked(), into, at),
    ready() {
      if (parts !== undefined || hasFailed) return undefined;
      unpacking ??= unpack();
      return unpacking;
    },
    rest() {
      parts = undefined;
    },
    close() {
      parts = undefined;
      closeSync(file);
    },
  };
}

/** Unpacks on another thread, a part at a time. Rejects for what is damaged or too long. */
function unpackedBeside(packed: Buffer): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>();
  const parts: Buffer[] = [];
  let bytes = 0;
  const stream = createGunzip({ chunkSize: unpackedPartBytes });
  stream.on("data", (part: Buffer) => {
    bytes += part.length;
    parts.push(part);
    if (bytes > unpackedBytesMax) stream.destroy(new RangeError(`it has more than ${unpackedBytesMax} bytes`));
  });
  stream.once("end", () => resolve(parts));
  stream.once("error", reject);
  stream.end(packed);
  return promise;
}

/** Copies from a place in parts that follow each other; returns how many bytes. */
function copyParts(parts: readonly Buffer[], into: Buffer, at: number): number {
  let [begin, copied] = [0, 0];
  for (const part of parts) {
    const from = at + copied - begin;
    if (from < part.length) copied += part.copy(into, copied, from);
    if (copied === into.length) break;
    begin += part.length;
  }
  return copied;
}

/** The whole file: a descriptor remembers where an earlier reading ended. */
function wholeOf(file: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(file).size);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
}

function heldBytes(file: number): number {
  const { nlink, size } = fstatSync(file);
  return nlink === 0 ? size : 0;
}

function packedHead(file: number): string | undefined {
  const bytes = Buffer.alloc(packedHeadBytes);
  const count = readSync(file, bytes, 0, bytes.length, 0);
  // Only its beginning is there, so the end of the stream must not be waited for.
  return headOf(gunzipSync(bytes.subarray(0, count), { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, headBytes));
}

/** Stands for the first line of a file, or for as much of it as is looked at. */
export function headOf(beginning: Buffer): string | undefined {
  const end = beginning.subarray(0, headBytes).indexOf(10);
  if (end < 0 && beginning.length < headBytes) return undefined;
  return Bun.hash.crc32(beginning.subarray(0, end < 0 ? headBytes : end)).toString(36);
}

/** Whether the file that has this name now, or its compressed copy, is `file`. Undefined where there is none of this name. */
export function isNamed(path: string, file: LogFile): boolean | undefined {
  const inode = inodeOf(path);
  if (inode !== undefined) return inode === file.inode;
  const packed = open(`${path}.gz`);
  if (packed === undefined) return undefined;
  try {
    return packedHead(packed) === file.head();
  } finally {
    closeSync(packed);
  }
}

/** Whether there is a file of this name, or its compressed copy. */
export function hasFile(path: string): boolean {
  return inodeOf(path) !== undefined || inodeOf(`${path}.gz`) !== undefined;
}

/** Number of the file that has this name now. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Whether the file that has this name now is still this one, and not a byte longer or shorter. */
export function isUnchanged(path: string, { inode, size }: { inode: number | undefined; size: number }): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === inode && now.size === size;
}
