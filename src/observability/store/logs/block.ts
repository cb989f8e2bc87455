import { levels, type LogSource, logStreams, type NewLine } from "../../core/logs/line.ts";
import { foldCase } from "../../../base/pure/fold-case.ts";
import { filterOf } from "../../core/logs/grams.ts";
import { isPlain, readingOf } from "../../core/logs/reading.ts";

/** How far the log of one container was read when a block was written: where reading goes on. */
export interface LogPosition {
  /** Which file, by number and by a digest of how it begins. */
  file: string;
  /** Bytes of it that are done with. */
  offset: number;
  /** Epoch milliseconds of the last line. */
  at: number;
}

/** What is known of a block without unpacking it. */
export interface BlockHead {
  version: 1;
  lines: number;
  /** Bytes of the lines with their line breaks. */
  rawBytes: number;
  /** Epoch milliseconds of the first line and of the last. */
  from: number;
  until: number;
  /** Lines by level, in the order of `levels`. */
  levels: number[];
  sources: LogSource[];
  /** By container. */
  positions: Record<string, LogPosition>;
  /** Counts blocks as they are written: the positions of a later one hold. Missing in those of older servers. */
  order?: number;
  /** Some line may write characters of ASCII as `\u00..`. */
  escapes: boolean;
  /** 2: the filter is of the lines as they read, folded. Missing in blocks of older servers: of the lines as written. */
  index?: 2;
  /** Checksums of the parts that are read without the rest. Missing in blocks of older servers. */
  filterSum?: number;
  columnSum?: number;
  filterBytes: number;
  columnBytes: number;
  textBytes: number;
}

/**
 * A block on disk: four letters that mark it, the length of its head, a checksum of the head and one of the rest; then
 * the head as JSON, the filter, the columns and the text, both compressed.
 */
const magic = Buffer.from("BLG1");
export const prefixBytes = 20;
const headBytesMax = 256 * 1024;

export interface Packed {
  head: BlockHead;
  bytes: Buffer;
}

/** Packs lines of one app; they are sorted by time, those of one time stay in order. */
export function packBlock(
  unsorted: readonly NewLine[],
  { positions, order }: Pick<BlockHead, "positions" | "order">,
  level: number,
): Packed {
  const lines = isSorted(unsorted) ? unsorted : unsorted.toSorted((a, b) => a.at - b.at);
  const sources: LogSource[] = [];
  const bySource = new Map<string, number>();
  const counts = levels.map(() => 0);
  const columns = createNumberWriter();
  let before = lines[0]?.at ?? 0;
  for (const line of lines) {
    const key = sourceKey(line.source);
    let source = bySource.get(key);
    if (source === undefined) {
      source = sources.push(line.source) - 1;
      bySource.set(key, source);
    }
    const weight = levels.indexOf(line.level);
    counts[weight] = (counts[weight] ?? 0) + 1;
    columns.push(line.at - before);
    before = line.at;
    columns.push((source * levels.length + weight) * logStreams.length + logStreams.indexOf(line.stream));
  }
  const whole = `${lines.map((line) => line.text).join("\n")}\n`;
  const text = Buffer.from(whole);
  const filter = filterOf(isPlain(whole) ? text : Buffer.from(asTheyRead(lines)));
  const packedColumns = Bun.zstdCompressSync(columns.bytes(), { level });
  const packedText = Bun.zstdCompressSync(text, { level });
  const head: BlockHead = {
    version: 1,
    lines: lines.length,
    rawBytes: text.length,
    from: lines[0]?.at ?? 0,
    until: before,
    levels: counts,
    sources,
    positions,
    ...(order === undefined ? {} : { order }),
    escapes: text.includes("\\u00"),
    index: 2,
    filterSum: Bun.hash.crc32(filter),
    columnSum: Bun.hash.crc32(packedColumns),
    filterBytes: filter.length,
    columnBytes: packedColumns.length,
    textBytes: packedText.length,
  };
  return { head, bytes: frame(head, [filter, packedColumns, packedText]) };
}

function asTheyRead(lines: readonly NewLine[]): string {
  return lines.map(({ text }) => `${foldCase(readingOf(text))}\n`).join("");
}

function isSorted(lines: readonly NewLine[]): boolean {
  return lines.every((line, at) => at === 0 || (lines[at - 1]?.at ?? 0) <= line.at);
}

function sourceKey({ id, release, replica, role }: LogSource): string {
  return `${id} ${replica} ${release} ${role}`;
}

function frame(head: BlockHead, parts: readonly Uint8Array[]): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const body = Buffer.concat(parts);
  const prefix = Buffer.alloc(prefixBytes);
  magic.copy(prefix);
  prefix.writeUInt32LE(json.length, 4);
  prefix.writeUInt32LE(body.length, 8);
  prefix.writeUInt32LE(Bun.hash.crc32(json), 12);
  prefix.writeUInt32LE(Bun.hash.crc32(body), 16);
  return Buffer.concat([prefix, json, body]);
}

/** Lengths and checksums from the first bytes of a block; undefined where they are not those of a block. */
export function readPrefix(
  bytes: Buffer,
): { headBytes: number; bodyBytes: number; headSum: number; bodySum: number } | undefined {
  if (bytes.length < prefixBytes || !bytes.subarray(0, 4).equals(magic)) return undefined;
  const headBytes = bytes.readUInt32LE(4);
  if (headBytes > headBytesMax) return undefined;
  return {
    headBytes,
    bodyBytes: bytes.readUInt32LE(8),
    headSum: bytes.readUInt32LE(12),
    bodySum: bytes.readUInt32LE(16),
  };
}

export function readHead(json: Uint8Array, sum: number): BlockHead | undefined {
  if (Bun.hash.crc32(json) !== sum) return undefined;
  return JSON.parse(Buffer.from(json).toString()) as BlockHead;
}

/** Without a checksum, as in blocks of older servers, the bytes are taken as they are. */
export function isWhole(bytes: Uint8Array, sum: number | undefined): boolean {
  return sum === undefined || Bun.hash.crc32(bytes) === sum;
}

/** Where the next block may begin, as far as its mark tells; -1 without one. */
export function nextMark(bytes: Buffer, from: number): number {
  return bytes.indexOf(magic, from);
}

/** The columns of a block, line by line. */
export interface Columns {
  at: Float64Array;
  source: Uint32Array;
  level: Uint8Array;
  stream: Uint8Array;
}

export function unpackColumns(head: BlockHead, packed: Uint8Array): Columns {
  const next = createNumberReader(Bun.zstdDecompressSync(packed));
  const columns: Columns = {
    at: new Float64Array(head.lines),
    source: new Uint32Array(head.lines),
    level: new Uint8Array(head.lines),
    stream: new Uint8Array(head.lines),
  };
  let at = head.from;
  for (let line = 0; line < head.lines; line++) {
    at += next();
    columns.at[line] = at;
    const mixed = next();
    columns.stream[line] = mixed % logStreams.length;
    const rest = Math.floor(mixed / logStreams.length);
    columns.level[line] = rest % levels.length;
    columns.source[line] = Math.floor(rest / levels.length);
  }
  return columns;
}

export function unpackText(packed: Uint8Array): Buffer {
  const bytes = Bun.zstdDecompressSync(packed);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Numbers in as few bytes as they need, seven bits each. */
function createNumberWriter(): { push(value: number): void; bytes(): Uint8Array } {
  let into = new Uint8Array(16 * 1024);
  let length = 0;
  return {
    push(value) {
      if (length + 9 > into.length) {
        const larger = new Uint8Array(into.length * 2);
        larger.set(into);
        into = larger;
      }
      let rest = value;
      // Above 31 bits the operators of bits lose some.
      for (; rest >= 0x80; rest = rest < 0x7fffffff ? rest >>> 7 : Math.floor(rest / 128))
        into[length++] = (rest % 128) | 0x80;
      into[length++] = rest;
    },
    bytes: () => into.subarray(0, length),
  };
}

/** Reads them one after the other. Past the end they are 0. */
function createNumberReader(bytes: Uint8Array): () => number {
  let at = 0;
  return () => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  };
}
