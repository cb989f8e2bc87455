import type { Cursor, Order } from "../../core/logs/cursor.ts";
import { compareLines, type FoundLine } from "../../core/logs/line.ts";
import type { CompiledQuery } from "../../core/logs/query.ts";
import type { LogStore } from "./log-store.ts";
import { type BlockQuery, blockQuery, headFits, matchBlock, matchLines } from "./match.ts";
import { CorruptSegment, type StoredBlock } from "./segment.ts";

interface SearchRequest {
  query: CompiledQuery;
  order: Order;
  limit: number;
  cursor?: Cursor;
}

interface SearchPage {
  lines: FoundLine[];
  /** Where the next page begins; undefined where there is nothing more. */
  next: Cursor | undefined;
  /** Epoch milliseconds up to which everything was looked through; undefined where that is all. */
  stoppedAt: number | undefined;
  blocksRead: number;
  blocksSkipped: number;
}

/** Blocks, and lines that wait for theirs, in the order in which a search meets them. */
export interface Place {
  from: number;
  until: number;
  /** Lines that wait in memory. */
  lines?: FoundLine[];
  block?: StoredBlock;
}

/**
 * Searches in steps: each `yield` is a good moment to do something else, and to stop: `return` then makes the page of what
 * was found. A search that a clean-up of the store overtakes goes on from where it was.
 */
export function* searchLines(
  store: LogStore,
  request: SearchRequest,
  stop: () => boolean,
): Generator<void, SearchPage> {
  const asked = blockQuery(request.query);
  const progress: SearchPage = { lines: [], next: undefined, stoppedAt: undefined, blocksRead: 0, blocksSkipped: 0 };
  let cursor = request.cursor;
  for (;;) {
    const left = { ...request, cursor, limit: request.limit - progress.lines.length };
    const overtaken = yield* oneRun(store, asked, { request: left, progress, stop });
    if (!overtaken) return progress;
    cursor = progress.next ?? cursor;
    progress.next = undefined;
  }
}

interface Run {
  request: SearchRequest;
  progress: SearchPage;
  stop: () => boolean;
}

/** True where the blocks moved meanwhile: `progress.next` is where to go on. */
function* oneRun(store: LogStore, asked: BlockQuery, { request, progress, stop }: Run): Generator<void, boolean> {
  const { order, limit, cursor } = request;
  const generation = store.generation();
  const places = placesOf(store, asked, request);
  const emitting = createEmitting(order, cursor, limit);
  const finish = () => {
    progress.lines.push(...emitting.lines);
    progress.next = emitting.next();
  };
  for (let at = 0; ; at++) {
    const place = places[at];
    emitting.emit(place === undefined ? undefined : edge(place, order));
    if (emitting.isFull() || place === undefined) {
      finish();
      if (place === undefined && !emitting.isFull()) progress.next = undefined;
      return false;
    }
    if (stop()) {
      finish();
      progress.stoppedAt = edge(place, order);
      progress.next = emitting.next() ?? cursor ?? { at: edge(place, order), skip: 0 };
      return false;
    }
    if (store.generation() !== generation) {
      finish();
      return true;
    }
    emitting.take(found(store, asked, place, progress));
    yield;
  }
}

function found(store: LogStore, asked: BlockQuery, { block, lines }: Place, progress: SearchPage): FoundLine[] {
  if (lines !== undefined) return matchLines(asked.query, lines);
  if (block === undefined) return [];
  try {
    const matched = matchBlock(asked, block);
    if (matched.length > 0) progress.blocksRead += 1;
    else progress.blocksSkipped += 1;
    return matched;
  } catch (error) {
    if (!(error instanceof CorruptSegment)) throw error;
    store.damage(error.segment, error.message);
    return [];
  }
}

/** Where lines of this place may begin, seen from where the search comes. */
function edge(place: Place, order: Order): number {
  return order === "desc" ? place.until : place.from;
}

export function placesOf(
  store: LogStore,
  asked: BlockQuery,
  { order, cursor }: Pick<SearchRequest, "order" | "cursor">,
): Place[] {
  const { query } = asked;
  const reached = cursor?.at;
  const isBehind = ({ from, until }: { from: number; until: number }) =>
    reached === undefined || (order === "desc" ? from <= reached : until >= reached);
  const places: Place[] = [];
  for (const { app, blocks } of store.segments()) {
    if (!query.reaches(app)) continue;
    for (const block of blocks)
      if (headFits(asked, block.head) && isBehind(block.head))
        places.push({ from: block.head.from, until: block.head.until, block });
  }
  for (const { app, lines } of store.waiting()) {
    if (!query.reaches(app) || lines.length === 0) continue;
    const own = lines.map((line) => ({ ...line, app }));
    const times = own.map(({ at }) => at);
    const [from, until] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
    if (isBehind({ from, until })) places.push({ from, until, lines: own });
  }
  // Of two that end at the same time, the one that was written later is the newer one.
  if (order === "desc") return places.reverse().sort((a, b) => b.until - a.until);
  return places.sort((a, b) => a.from - b.from);
}

interface Emitting {
  lines: FoundLine[];
  take(found: readonly FoundLine[]): void;
  /** Hands out what nothing can come before any more: all of it without an edge. */
  emit(edge: number | undefined): void;
  isFull(): boolean;
  next(): Cursor | undefined;
}

function createEmitting(order: Order, cursor: Cursor | undefined, limit: number): Emitting {
  const lines: FoundLine[] = [];
  let pending: FoundLine[] = [];
  let reached = cursor;
  let toSkip = cursor?.skip ?? 0;
  const isBehind = (at: number, mark: number) => (order === "desc" ? at < mark : at > mark);
  return {
    lines,
    take(found) {
      if (found.length === 0) return;
      const fresh = cursor === undefined ? found : found.filter(({ at }) => !isBehind(cursor.at, at));
      // Lines of one container and time keep the order in which they came, or the reverse of it.
      const both = [...pending, ...(order === "desc" ? fresh.toReversed() : fresh)];
      both.sort(order === "desc" ? (a, b) => compareLines(b, a) : compareLines);
      // More than these can never be handed out.
      pending = both.slice(0, limit - lines.length + toSkip);
    },
    emit(edge) {
      let count = 0;
      for (const line of pending) {
        if (lines.length >= limit || (edge !== undefined && !isBehind(edge, line.at))) break;
        count += 1;
        if (toSkip > 0 && line.at === cursor?.at) {
          toSkip -= 1;
          continue;
        }
        reached = { at: line.at, skip: reached?.at === line.at ? reached.skip + 1 : 1 };
        lines.push(line);
      }
      pending = pending.slice(count);
    },
    isFull: () => lines.length >= limit,
    next: () => reached,
  };
}
