import { Failure } from "../../../base/wire/failure.ts";
import { foldCase, isAscii } from "../../../base/pure/fold-case.ts";
import type { Order } from "../../core/logs/cursor.ts";
import { levels, logStreams } from "../../core/logs/line.ts";
import type { FoundLine } from "../../core/logs/line.ts";
import { entriesOf, mayHold } from "../../core/logs/grams.ts";
import { type CompiledQuery, lineFits, type Needle } from "../../core/logs/query.ts";
import { type BlockHead, type Columns, unpackColumns, unpackText } from "./block.ts";
import { readBody, readFilter, type StoredBlock } from "./segment.ts";

/** A needle as blocks are asked for it. */
interface BlockNeedle {
  /** One character per byte; undefined where only lines with other characters than ASCII can hold it. */
  bytes: string | undefined;
  anyCase: boolean;
  /** What has to be in the filter of a block that holds it. */
  entries: number[];
  /** Like `entries`, for blocks of older servers. */
  entriesBefore: number[];
}

/** A query that has been made ready for blocks. */
export interface BlockQuery {
  query: CompiledQuery;
  needles: BlockNeedle[];
}

export function blockQuery(query: CompiledQuery): BlockQuery {
  return { query, needles: query.needles.map(ofNeedle) };
}

function ofNeedle({ text, anyCase }: Needle): BlockNeedle {
  return {
    bytes: isAscii(text) ? text : undefined,
    anyCase,
    entries: entriesOf(Buffer.from(foldCase(text))),
    entriesBefore: text.split(notInOlderFilters).flatMap((part) => entriesOf(Buffer.from(part))),
  };
}

/**
 * The filter of an older server is of the lines as they are written. These characters of a needle a line may write another
 * way: letters that others fold to (İ, K, ſ, ß), what JSON escapes, and all beyond ASCII.
 */
const notInOlderFilters = /[iIkKsS"\\/]|[^\x21-\x7e]/;

/** What the filter of a block is asked for. Blocks of older servers that may write letters as `\u0041` are not asked. */
function entriesFor(needles: readonly BlockNeedle[], { index, escapes }: BlockHead): number[] {
  if (index === 2) return needles.flatMap(({ entries }) => entries);
  return escapes ? [] : needles.flatMap(({ entriesBefore }) => entriesBefore);
}

/** What the head alone says. */
export function headFits({ query }: BlockQuery, head: BlockHead): boolean {
  return (
    head.until >= query.from &&
    head.from < query.until &&
    head.levels.some((count, level) => count > 0 && query.levelFits[level] === true) &&
    head.sources.some((source) => query.sourceFits(source))
  );
}

/** A block takes milliseconds, unless an expression goes back and forth in each of its lines. */
export const blockMsMax = 5_000;

export const tooLong = () => new Failure("invalid", "q: takes too long here: use words, or fewer repeats");

/** The lines of what will be a block that fit, in order. Fails `invalid` where the query takes too long. */
export function matchLines(query: CompiledQuery, lines: readonly FoundLine[]): FoundLine[] {
  const latest = performance.now() + blockMsMax;
  return lines.filter((line) => {
    if (performance.now() > latest) throw tooLong();
    return lineFits(query, line);
  });
}

/** How many of the lines that fit are enough, counted from the end where `order` begins. */
export interface Enough {
  order: Order;
  count: number;
}

/**
 * The lines of a block that fit, by time. With `enough`, only that many, and those of the same time as the last of them.
 * Throws `CorruptBlock`, and fails `invalid` where the query takes too long.
 */
export function matchBlock(asked: BlockQuery, block: StoredBlock, enough?: Enough): FoundLine[] {
  const entries = entriesFor(asked.needles, block.head);
  if (entries.length > 0 && !mayHold(readFilter(block), entries)) return [];
  const body = readBody(block);
  const text = unpackText(body.text);
  const lines = candidates(text, asked.needles) ?? allLines(text);
  const count = lines.starts.length;
  if (count === 0) return [];
  const columns = unpackColumns(block.head, body.columns);
  const found: FoundLine[] = [];
  const fits = columnTest(asked.query, block.head, columns);
  const latest = performance.now() + blockMsMax;
  const isBackwards = enough?.order === "desc";
  for (let step = 0; step < count; step++) {
    const at = isBackwards ? count - 1 - step : step;
    const line = lines.numbers[at] ?? 0;
    if (enough !== undefined && found.length >= enough.count && found.at(-1)?.at !== columns.at[line]) break;
    if (!fits(line)) continue;
    if (performance.now() > latest) throw tooLong();
    const words = text.toString("utf8", lines.starts[at], lines.ends[at]);
    if (asked.query.textFits(words)) found.push(lineOf(block, columns, { line, text: words }));
  }
  return isBackwards ? found.reverse() : found;
}

function columnTest(query: CompiledQuery, head: BlockHead, columns: Columns): (line: number) => boolean {
  const sources = head.sources.map((source) => query.sourceFits(source));
  return (line) => {
    const at = columns.at[line] ?? 0;
    return (
      at >= query.from &&
      at < query.until &&
      query.levelFits[columns.level[line] ?? 0] === true &&
      query.streamFits[columns.stream[line] ?? 0] === true &&
      sources[columns.source[line] ?? 0] === true
    );
  };
}

function lineOf(block: StoredBlock, columns: Columns, { line, text }: { line: number; text: string }): FoundLine {
  const source = block.head.sources[columns.source[line] ?? 0];
  if (source === undefined) throw new Error(`a line of ${block.segment.path} has no source`);
  return {
    app: block.app,
    at: columns.at[line] ?? 0,
    source,
    stream: logStreams[columns.stream[line] ?? 0] ?? "stdout",
    level: levels[columns.level[line] ?? 0] ?? "none",
    text,
  };
}

interface Candidates {
  numbers: number[];
  starts: number[];
  ends: number[];
}

function allLines(text: Buffer): Candidates {
  const all: Candidates = { numbers: [], starts: [], ends: [] };
  for (let from = 0, line = 0; from < text.length; line++) {
    const to = text.indexOf(10, from);
    all.numbers.push(line);
    all.starts.push(from);
    all.ends.push(to);
    from = to + 1;
  }
  return all;
}

/** A byte that a line has which reads otherwise than it is written: see `isPlain`. */
const oddByte = /[\\\x80-\xff]/g;

/**
 * Lines that can hold a needle: those that have its bytes, and those that may write it another way. Undefined without one,
 * which is every line. The rest is left to the line.
 */
function candidates(text: Buffer, needles: readonly BlockNeedle[]): Candidates | undefined {
  if (needles.length === 0) return undefined;
  const found: Candidates = { numbers: [], starts: [], ends: [] };
  const nextPlace = placesOf(text.toString("latin1"), needles);
  let line = 0;
  let counted = 0;
  for (let place = nextPlace(0); place !== Infinity;) {
    // Both ends of the line, and how many line breaks lie before it.
    const start = text.lastIndexOf(10, place) + 1;
    const end = text.indexOf(10, place);
    for (let at = text.indexOf(10, counted); at >= 0 && at < start; at = text.indexOf(10, counted)) {
      line += 1;
      counted = at + 1;
    }
    found.numbers.push(line);
    found.starts.push(start);
    found.ends.push(end);
    place = nextPlace(end + 1);
  }
  return found;
}

/** The next place in a text, one character per byte, that makes its line one to look at. */
function placesOf(written: string, needles: readonly BlockNeedle[]): (from: number) => number {
  const longest = needles.toSorted((a, b) => (b.bytes?.length ?? 0) - (a.bytes?.length ?? 0))[0];
  const needle = needles.every(({ bytes }) => bytes !== undefined) ? longest : undefined;
  const searched = needle?.anyCase === true ? written.toLowerCase() : written;
  const nextHit = forward((from) => (needle?.bytes === undefined ? -1 : searched.indexOf(needle.bytes, from)));
  const nextOdd = forward((from) => {
    oddByte.lastIndex = from;
    return oddByte.exec(written)?.index ?? -1;
  });
  return (from) => Math.min(nextHit(from), nextOdd(from));
}

/** The next place at or behind `from`, which only grows: looked for again once it is passed. Infinity where there is none. */
function forward(find: (from: number) => number): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) {
      const found = find(from);
      next = found < 0 ? Infinity : found;
    }
    return next;
  };
}
