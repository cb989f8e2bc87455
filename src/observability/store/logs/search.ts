import type { Cursor, Order } from "../../core/logs/cursor.ts";
import { compareLines, type FoundLine } from "../../core/logs/line.ts";
import type { CompiledQuery } from "../../core/logs/query.ts";
import type { LogStore } from "./log-store.ts";
import { type BlockQuery, blockQuery, type Enough, headFits, matchBlock, matchLines } from "./match.ts";
import { CorruptBlock, type StoredBlock } from "./segment.ts";

interface SearchRequest {
  query: CompiledQuery;
  order: Order;
  limit: number;
  /** The line that reaches this is the last one of the page. */
  charactersMax?: number;
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
  /** Larger where the lines came later: decides between lines of one container and time. */
  rank: number;
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
  const progress: SearchPage = { lines: [], next: undefined, stoppedAt: undefined, blocksRead: 0, blocksSkipped: 0 };
  let cursor = request.cursor;
  for (;;) {
    const left = {
      ...request,
      cursor,
      limit: request.limit - progress.lines.length,
      charactersMax:
        (request.charactersMax ?? Infinity) - progress.lines.reduce((sum, { text }) => sum + text.length, 0),
    };
    const asked = blockQuery(behind(request.query, request.order, cursor));
    const overtaken = yield* oneRun(store, asked, { request: left, progress, stop });
    if (!overtaken) return progress;
    cursor = progress.next ?? cursor;
    progress.next = undefined;
  }
}

/** Without the lines that the pages up to the cursor have. */
function behind(query: CompiledQuery, order: Order, cursor: Cursor | undefined): CompiledQuery {
  if (cursor === undefined) return query;
  if (order === "asc") return { ...query, from: Math.max(query.from, cursor.at) };
  return { ...query, until: Math.min(query.until, cursor.at + 1) };
}

interface Run {
  request: Omit<SearchRequest, "charactersMax"> & { charactersMax: number };
  progress: SearchPage;
  stop: () => boolean;
}

/** True where the blocks moved meanwhile: `progress.next` is where to go on. */
function* oneRun(store: LogStore, asked: BlockQuery, { request, progress, stop }: Run): Generator<void, boolean> {
  const { order } = request;
  const generation = store.generation();
  const places = placesOf(store, asked, request);
  const emitting = createEmitting(request);
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
      progress.next = furthest(order, emitting.next(), { at: progress.stoppedAt, skip: 0 });
      return false;
    }
    if (store.generation() !== generation) {
      finish();
      return true;
    }
    emitting.take(found(store, asked, { place, progress, enough: { order, count: emitting.wanted() } }), place.rank);
    yield;
  }
}

interface Look {
  place: Place;
  progress: SearchPage;
  enough: Enough;
}

function found(store: LogStore, asked: BlockQuery, { place, progress, enough }: Look): FoundLine[] {
  const { block, lines } = place;
  if (lines !== undefined) return matchLines(asked.query, lines);
  if (block === undefined) return [];
  try {
    const matched = matchBlock(asked, block, enough);
    if (matched.length > 0) progress.blocksRead += 1;
    else progress.blocksSkipped += 1;
    return matched;
  } catch (error) {
    if (!(error instanceof CorruptBlock)) throw error;
    store.damage(error);
    return [];
  }
}

/** Everything before the edge was looked at, found or not: a search without a hit goes on from there too. */
function furthest(order: Order, reached: Cursor | undefined, edge: Cursor): Cursor {
  return reached === undefined || isBeyond(order, edge.at, reached.at) ? edge : reached;
}

/** Whether a search in this order meets `at` only after `mark`. */
function isBeyond(order: Order, at: number, mark: number): boolean {
  return order === "desc" ? at < mark : at > mark;
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
        places.push({ from: block.head.from, until: block.head.until, rank: block.head.order ?? 0, block });
  }
  for (const { app, lines } of store.waiting()) {
    if (!query.reaches(app) || lines.length === 0) continue;
    const own = lines.map((line) => ({ ...line, app }));
    const times = own.map(({ at }) => at);
    const [from, until] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
    if (isBehind({ from, until })) places.push({ from, until, rank: Number.MAX_SAFE_INTEGER, lines: own });
  }
  return places.sort(order === "desc" ? (a, b) => b.until - a.until : (a, b) => a.from - b.from);
}

interface Emitting {
  lines: FoundLine[];
  /** `rank`: of the place of these lines. */
  take(found: readonly FoundLine[], rank: number): void;
  /** Hands out what nothing can come before any more: all of it without an edge. */
  emit(edge: number | undefined): void;
  isFull(): boolean;
  /** More lines than these can never be handed out. */
  wanted(): number;
  next(): Cursor | undefined;
}

interface Pending {
  line: FoundLine;
  rank: number;
}

function createEmitting({ order, cursor, limit, charactersMax }: Run["request"]): Emitting {
  const lines: FoundLine[] = [];
  let pending: Pending[] = [];
  let reached = cursor;
  let toSkip = cursor?.skip ?? 0;
  let characters = 0;
  const isFull = () => lines.length >= limit || characters >= charactersMax;
  const wanted = () => limit - lines.length + toSkip;
  // Lines of one place, container and time keep the order in which they came, or the reverse of it.
  const ascending = (a: Pending, b: Pending) => compareLines(a.line, b.line) || a.rank - b.rank;
  const compare = order === "desc" ? (a: Pending, b: Pending) => ascending(b, a) : ascending;
  return {
    lines,
    wanted,
    take(found, rank) {
      if (found.length === 0) return;
      const fresh = found.filter(({ at }) => cursor === undefined || !isBeyond(order, cursor.at, at));
      if (order === "desc") fresh.reverse();
      const both = [...pending, ...fresh.map((line) => ({ line, rank }))];
      pending = both.sort(compare).slice(0, wanted());
    },
    emit(edge) {
      let count = 0;
      for (const { line } of pending) {
        if (isFull() || (edge !== undefined && !isBeyond(order, edge, line.at))) break;
        count += 1;
        if (toSkip > 0 && line.at === cursor?.at) {
          toSkip -= 1;
          continue;
        }
        reached = { at: line.at, skip: reached?.at === line.at ? reached.skip + 1 : 1 };
        lines.push(line);
        characters += line.text.length;
      }
      pending = pending.slice(count);
    },
    isFull,
    next: () => reached,
  };
}
