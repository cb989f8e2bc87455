import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import type { LogApp } from "../../core/logs/line.ts";
import { type BlockHead, isWhole, type Packed, prefixBytes, readHead, readPrefix } from "./block.ts";

/** A block and where it lies. */
export interface StoredBlock {
  app: LogApp;
  segment: Segment;
  head: BlockHead;
  /** Of the filter, in the file. */
  bodyAt: number;
  bodySum: number;
}

/** A file of blocks of one app. */
export interface Segment {
  app: LogApp;
  path: string;
  /** Epoch milliseconds of the hour in which it was begun. */
  hourAt: number;
  bytes: number;
  blocks: StoredBlock[];
}

/** A file that does not hold what it should. */
export class CorruptSegment extends Error {
  constructor(
    readonly segment: Segment,
    what: string,
  ) {
    super(`log segment ${segment.path}: ${what}`);
  }
}

/** Reads the heads of all blocks. `tornBytes`: what stands behind the last whole block, after a crash in a write. */
export function scanSegment(path: string, app: LogApp, hourAt: number): { segment: Segment; tornBytes: number } {
  const file = openSync(path, "r");
  try {
    const size = fstatSync(file).size;
    const segment: Segment = { app, path, hourAt, bytes: 0, blocks: [] };
    while (segment.bytes < size) {
      const block = blockAt(file, segment, size);
      if (block === undefined) break;
      segment.blocks.push(block);
      segment.bytes = block.bodyAt + bodyBytes(block.head);
    }
    return { segment, tornBytes: size - segment.bytes };
  } finally {
    closeSync(file);
  }
}

function blockAt(file: number, segment: Segment, size: number): StoredBlock | undefined {
  const first = readAt(file, segment.bytes, prefixBytes);
  const prefix = readPrefix(first);
  if (prefix === undefined) return undefined;
  const bodyAt = segment.bytes + prefixBytes + prefix.headBytes;
  if (bodyAt + prefix.bodyBytes > size) return undefined;
  const head = readHead(readAt(file, segment.bytes + prefixBytes, prefix.headBytes), prefix.headSum);
  if (head === undefined || bodyBytes(head) !== prefix.bodyBytes) return undefined;
  return { app: segment.app, segment, head, bodyAt, bodySum: prefix.bodySum };
}

function bodyBytes(head: BlockHead): number {
  return head.filterBytes + head.columnBytes + head.textBytes;
}

function readAt(file: number, from: number, length: number): Buffer {
  const into = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(file, into, done, length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return into.subarray(0, done);
}

/** Puts a block behind the last one and on disk. A write that fails leaves the file as it was. */
export function appendBlock(segment: Segment, { head, bytes }: Packed): StoredBlock {
  const file = openSync(segment.path, "a", 0o600);
  try {
    try {
      writeAll(file, bytes);
      fdatasyncSync(file);
    } catch (error) {
      ftruncateSync(file, segment.bytes);
      throw error;
    }
  } finally {
    closeSync(file);
  }
  const bodyAt = segment.bytes + bytes.length - bodyBytes(head);
  const block: StoredBlock = { app: segment.app, segment, head, bodyAt, bodySum: bytes.readUInt32LE(16) };
  segment.blocks.push(block);
  segment.bytes += bytes.length;
  return block;
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}

export function readFilter({ segment, head, bodyAt }: StoredBlock): Buffer {
  return readPart(segment, bodyAt, head.filterBytes);
}

/** Without the checksum, which is of the whole body. */
export function readColumns({ segment, head, bodyAt }: StoredBlock): Buffer {
  return readPart(segment, bodyAt + head.filterBytes, head.columnBytes);
}

/** Columns and text, checked. Throws `CorruptSegment`. */
export function readBody(block: StoredBlock): { columns: Buffer; text: Buffer } {
  const { segment, head, bodyAt, bodySum } = block;
  const body = readPart(segment, bodyAt, bodyBytes(head));
  if (!isWhole(body, bodySum)) throw new CorruptSegment(segment, `the block at byte ${bodyAt} is damaged`);
  const textAt = head.filterBytes + head.columnBytes;
  return { columns: body.subarray(head.filterBytes, textAt), text: body.subarray(textAt) };
}

function readPart(segment: Segment, from: number, length: number): Buffer {
  let file: number;
  try {
    file = openSync(segment.path, "r");
  } catch (error) {
    throw new CorruptSegment(segment, `it cannot be opened (${String(error)})`);
  }
  try {
    const bytes = readAt(file, from, length);
    if (bytes.length < length) throw new CorruptSegment(segment, "it is shorter than it was");
    return bytes;
  } finally {
    closeSync(file);
  }
}
