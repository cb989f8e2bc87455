import { levels } from "../../core/logs/line.ts";
import type { CompiledQuery } from "../../core/logs/query.ts";
import { unpackColumns } from "./block.ts";
import type { LogStore } from "./log-store.ts";
import { type BlockQuery, blockQuery, matchBlock, matchLines } from "./match.ts";
import { type Place, placesOf } from "./search.ts";
import { CorruptBlock, readColumns, type StoredBlock } from "./segment.ts";

export interface Histogram {
  from: number;
  intervalMs: number;
  /** By bucket, then in the order of `levels`. */
  counts: number[][];
  partial: boolean;
}

interface HistogramRequest {
  /** With both times. */
  query: CompiledQuery;
  bucketsMax: number;
}

/** Lengths of a bucket: round ones, so that neighbours in time have the same edges. */
const intervals = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
].map((seconds) => seconds * 1_000);

/** Counts lines by time and level, the newest first; in steps, as `searchLines`. */
export function* countLines(
  store: LogStore,
  { query, bucketsMax }: HistogramRequest,
  stop: () => boolean,
): Generator<void, Histogram> {
  const span = query.until - query.from;
  const intervalMs = intervals.find((one) => span / one <= bucketsMax - 1) ?? Math.ceil(span / (bucketsMax - 1));
  const from = Math.floor(query.from / intervalMs) * intervalMs;
  const buckets = Math.max(Math.ceil((query.until - from) / intervalMs), 1);
  const counts = Array.from({ length: buckets }, () => levels.map(() => 0));
  const count = (at: number, level: number, by = 1) => {
    const bucket = counts[Math.floor((at - from) / intervalMs)];
    if (bucket !== undefined) bucket[level] = (bucket[level] ?? 0) + by;
  };
  const asked = blockQuery(query);
  const generation = store.generation();
  for (const place of placesOf(store, asked, { order: "desc" })) {
    if (stop() || store.generation() !== generation) return { from, intervalMs, counts, partial: true };
    countPlace(store, asked, { place, intervalMs, count });
    yield;
  }
  return { from, intervalMs, counts, partial: false };
}

interface Counting {
  place: Place;
  intervalMs: number;
  count: (at: number, level: number, by?: number) => void;
}

function countPlace(
  store: LogStore,
  asked: BlockQuery,
  { place: { block, lines }, intervalMs, count }: Counting,
): void {
  const { query } = asked;
  for (const line of matchLines(query, lines ?? [])) count(line.at, levels.indexOf(line.level));
  if (block === undefined) return;
  try {
    if (!query.byColumns) for (const line of matchBlock(asked, block)) count(line.at, levels.indexOf(line.level));
    else if (isWhole(query, block, intervalMs))
      for (const [level, by] of block.head.levels.entries()) {
        if (query.levelFits[level] === true) count(block.head.from, level, by);
      }
    else countColumns(query, block, count);
  } catch (error) {
    if (!(error instanceof CorruptBlock)) throw error;
    store.damage(error);
  }
}

/** Whether all lines of a block fall into one bucket, and all of its sources are asked for. */
function isWhole(query: CompiledQuery, { head }: StoredBlock, intervalMs: number): boolean {
  return (
    head.from >= query.from &&
    head.until < query.until &&
    Math.floor(head.from / intervalMs) === Math.floor(head.until / intervalMs) &&
    query.streamFits.every(Boolean) &&
    head.sources.every((source) => query.sourceFits(source))
  );
}

function countColumns(query: CompiledQuery, block: StoredBlock, count: Counting["count"]): void {
  const columns = unpackColumns(block.head, readColumns(block));
  const sources = block.head.sources.map((source) => query.sourceFits(source));
  for (let line = 0; line < block.head.lines; line++) {
    const at = columns.at[line] ?? 0;
    const level = columns.level[line] ?? 0;
    const isIn = at >= query.from && at < query.until && query.levelFits[level] === true;
    if (isIn && query.streamFits[columns.stream[line] ?? 0] === true && sources[columns.source[line] ?? 0] === true)
      count(at, level);
  }
}
