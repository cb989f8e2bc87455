import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import type { LogApp } from "../../core/logs/line.ts";
import { type BlockHead, isWhole, nextMark, type Packed, prefixBytes, readHead, readPrefix } from "./block.ts";

/** A block and where it lies. */
export interface StoredBlock {
  app: LogApp;
  segment: Segment;
  head: BlockHead;
  /** Where the filter begins in the file. */
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
  damaged: DamagedPart[];
}

/** A part of a segment that cannot be read. */
export interface DamagedPart {
  /** Epoch milliseconds between which its lines lie, as far as the blocks around it tell. */
  from: number;
  until: number;
  /** Undefined where the head itself cannot be read. */
  head?: BlockHead;
}

/** A block that does not hold what it should. */
export class CorruptBlock extends Error {
  constructor(
    readonly block: StoredBlock,
    what: string,
  ) {
    super(`log segment ${block.segment.path}: ${what}`);
  }
}

/** What stands behind the last whole block of a segment. */
interface SegmentTail {
  bytes: number;
  /** Whether it can be the beginning of a write that a crash cut short. */
  looksTorn: boolean;
}

const hourMs = 3_600_000;

/**
 * Reads the heads of all blocks. What cannot be read between two blocks is one damaged part: the next block is found by its
 * mark and by the checksum of its head.
 */
export function scanSegment(path: string, app: LogApp, hourAt: number): { segment: Segment; tail: SegmentTail } {
  const file = openSync(path, "r");
  try {
    const size = fstatSync(file).size;
    const segment: Segment = { app, path, hourAt, bytes: 0, blocks: [], damaged: [] };
    for (let at = 0; at < size;) {
      const block = blockAt(file, segment, { at, size }) ?? nextBlock(file, segment, { at: at + 1, size });
      if (block === undefined) break;
      if (block.startsAt > at) segment.damaged.push(partBefore(segment, block.head.from));
      segment.blocks.push(block);
      segment.bytes = at = block.bodyAt + bodyBytes(block.head);
    }
    return { segment, tail: { bytes: size - segment.bytes, looksTorn: looksTorn(file, segment.bytes, size) } };
  } finally {
    closeSync(file);
  }
}

/** Takes what stands behind the last whole block for damaged; without this the next write would follow that block. */
export function keepTail(segment: Segment, { bytes }: SegmentTail): void {
  segment.damaged.push(partBefore(segment, segment.hourAt + hourMs));
  segment.bytes += bytes;
}

function partBefore({ blocks, hourAt }: Segment, next: number): DamagedPart {
  const before = blocks.at(-1)?.head.until ?? hourAt;
  return { from: Math.min(before, next), until: Math.max(before, next) };
}

function looksTorn(file: number, at: number, size: number): boolean {
  const prefix = readPrefix(readAt(file, at, prefixBytes));
  return prefix === undefined || at + prefixBytes + prefix.headBytes + prefix.bodyBytes > size;
}

interface Place {
  at: number;
  size: number;
}

/** The first block that begins at `at` or later. */
function nextBlock(file: number, segment: Segment, { at, size }: Place): (StoredBlock & Start) | undefined {
  const rest = readAt(file, at, size - at);
  for (let mark = nextMark(rest, 0); mark >= 0; mark = nextMark(rest, mark + 1)) {
    const block = blockAt(file, segment, { at: at + mark, size });
    if (block !== undefined) return block;
  }
  return undefined;
}

interface Start {
  startsAt: number;
}

function blockAt(file: number, segment: Segment, { at, size }: Place): (StoredBlock & Start) | undefined {
  const prefix = readPrefix(readAt(file, at, prefixBytes));
  if (prefix === undefined) return undefined;
  const bodyAt = at + prefixBytes + prefix.headBytes;
  if (bodyAt + prefix.bodyBytes > size) return undefined;
  const head = readHead(readAt(file, at + prefixBytes, prefix.headBytes), prefix.headSum);
  if (head === undefined || bodyBytes(head) !== prefix.bodyBytes) return undefined;
  return { app: segment.app, segment, head, bodyAt, bodySum: prefix.bodySum, startsAt: at };
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

/** Throws `CorruptBlock`, as the other readers of a block do. */
export function readFilter(block: StoredBlock): Buffer {
  const { filterBytes: length, filterSum: sum } = block.head;
  return readPart(block, { from: block.bodyAt, length, sum });
}

export function readColumns(block: StoredBlock): Buffer {
  const { filterBytes, columnBytes: length, columnSum: sum } = block.head;
  return readPart(block, { from: block.bodyAt + filterBytes, length, sum });
}

export function readBody(block: StoredBlock): { columns: Buffer; text: Buffer } {
  const { head, bodyAt, bodySum } = block;
  const body = readPart(block, { from: bodyAt, length: bodyBytes(head), sum: bodySum });
  const textAt = head.filterBytes + head.columnBytes;
  return { columns: body.subarray(head.filterBytes, textAt), text: body.subarray(textAt) };
}

interface Part {
  from: number;
  length: number;
  sum: number | undefined;
}

function readPart(block: StoredBlock, { from, length, sum }: Part): Buffer {
  let file: number;
  try {
    file = openSync(block.segment.path, "r");
  } catch (error) {
    throw new CorruptBlock(block, `it cannot be opened (${String(error)})`);
  }
  try {
    const bytes = readAt(file, from, length);
    if (bytes.length < length) throw new CorruptBlock(block, "it is shorter than it was");
    if (!isWhole(bytes, sum)) throw new CorruptBlock(block, `the block at byte ${block.bodyAt} is damaged`);
    return bytes;
  } finally {
    closeSync(file);
  }
}
