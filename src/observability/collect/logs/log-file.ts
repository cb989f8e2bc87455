import { closeSync, fstatSync, openSync, readSync, statSync, watch } from "node:fs";

const headBytes = 4_096;

/** An open log file of Docker. It stays readable when Docker renames or deletes it. */
export interface LogFile {
  inode: number;
  /** Number and beginning of the file: a number alone is used again. Undefined until its first line is complete. */
  identity(): string | undefined;
  size(): number;
  read(into: Buffer, at: number): number;
  close(): void;
}

/**
 * Calls `onChange` once, soon after something happens to the file at `path`. Call what it returns to stop that. Does nothing
 * where files cannot be watched, such as on some network file systems or when the kernel has no watch left.
 */
export function watchOnce(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false });
    const end = () => watcher.close();
    const changed = () => {
      end();
      onChange();
    };
    watcher.once("change", changed);
    watcher.once("error", end);
    return end;
  } catch {
    return () => undefined;
  }
}

/** Undefined where there is none. */
export function openLogFile(path: string): LogFile | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const inode = fstatSync(file).ino;
  let identity: string | undefined;
  return {
    inode,
    identity() {
      identity ??= identityOf(file, inode);
      return identity;
    },
    size: () => fstatSync(file).size,
    read: (into, at) => readSync(file, into, 0, into.length, at),
    close: () => closeSync(file),
  };
}

function identityOf(file: number, inode: number): string | undefined {
  const head = Buffer.alloc(headBytes);
  const count = readSync(file, head, 0, headBytes, 0);
  const end = head.subarray(0, count).indexOf(10);
  if (end < 0 && count < headBytes) return undefined;
  return `${inode}-${Bun.hash.crc32(head.subarray(0, end < 0 ? headBytes : end)).toString(36)}`;
}

/** Files of one log, newest first: the one that is written, then those that were rotated away. */
export function rotatedPaths(path: string): string[] {
  const paths = [path];
  for (let at = 1; at <= rotationsMax; at++) {
    if (!exists(`${path}.${at}`)) break;
    paths.push(`${path}.${at}`);
  }
  return paths;
}

const rotationsMax = 100;

function exists(path: string): boolean {
  return inodeOf(path) !== undefined;
}

/** Number of the file that has this name now. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Whether the file that has this name now is still this one, and not a byte longer or shorter. */
export function isUnchanged(path: string, { inode, size }: { inode: number; size: number }): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === inode && now.size === size;
}
