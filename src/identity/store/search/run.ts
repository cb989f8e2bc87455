import type { Database } from "bun:sqlite";
import type { SearchKind } from "../../core/search-columns.ts";
import { andAll, type Condition, conditionsOf, tellsAll } from "./conditions.ts";
import { type Driver, driversOf } from "./drivers.ts";
import { indexTable, isIndexed, type SearchIndex } from "./index.ts";
import { createPage, type Page } from "./page.ts";
import { rangesOf, type SeqRange } from "./ranges.ts";
import type { SearchRequest, SearchResult } from "./request.ts";
import { type FoundRow, type SearchTable, searchTables } from "./tables.ts";
import { fold } from "../../core/fold.ts";
import type { Search, Term } from "../../core/search.ts";

/** More of them make a query slower, not narrower. */
const trigramsMax = 24;

/**
 * A full-text query over `columns` that every row that is found meets: all runs of three characters of its texts.
 * Undefined when there is none, for what is shorter than three characters is in no index.
 */
export function trigramQuery(columns: readonly string[], { groups }: Search): string | undefined {
  const parts = groups.flatMap(({ field, oneOf }) => {
    if (!columns.includes(field)) return [];
    const alternatives = oneOf.map(trigramsOf);
    if (alternatives.some((grams) => grams.length === 0)) return [];
    return [`(${alternatives.map((grams) => `({${field}} : (${grams.map(quote).join(" AND ")}))`).join(" OR ")})`];
  });
  return parts.length === 0 ? undefined : parts.join(" AND ");
}

function trigramsOf(term: Term): string[] {
  const texts = term.is === "like" ? term.pattern.segments : term.is === "equal" ? [fold(term.value)] : [];
  const grams = new Set(texts.flatMap((text) => runsOfThree(Array.from(text))));
  return [...grams].slice(0, trigramsMax);
}

function runsOfThree(characters: readonly string[]): string[] {
  const runs: string[] = [];
  for (let at = 0; at + 3 <= characters.length; at++) runs.push(characters.slice(at, at + 3).join(""));
  return runs.filter((run) => !run.includes("\0"));
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

export interface SearchSources {
  /** The identity database for reading, the index attached as `grams`. */
  db: Database;
  index: Pick<SearchIndex, "upto" | "zones">;
  /** Whether everything of the instance is in its index. */
  isCurrent: (kind: SearchKind, instance: number) => boolean;
  steps: SearchSteps;
}

/** How much a step does: some milliseconds. */
export interface SearchSteps {
  /** Candidates that an index may leave and that are then read one by one. */
  candidatesMax: number;
  /** Rows that one statement hands over. */
  rowsPerRead: number;
  /** Rows that one statement looks at. */
  rowsPerScan: number;
}

export const searchSteps: SearchSteps = { candidatesMax: 20_000, rowsPerRead: 1_000, rowsPerScan: 8_000 };

interface Work extends SearchSources {
  request: SearchRequest;
  table: SearchTable;
  page: Page;
  where: Condition;
}

/**
 * Carries out a search in steps of some milliseconds each, newest rows first: by an index when it leaves few
 * candidates, else by trigrams in the order of their rows, else by reading along. Ends when the page is full or
 * nothing is left; the caller may give up between two steps.
 */
export function* runSearch(sources: SearchSources, request: SearchRequest): Generator<undefined, SearchResult> {
  const { kind, instance, search, rowsMax, bytesMax } = request;
  const table = searchTables[kind];
  const page = createPage({ table, search, exact: tellsAll(table, search), rowsMax, bytesMax });
  const work: Work = { ...sources, request, table, page, where: andAll(conditionsOf(table, search)) };
  const drivers = driversOf(table, search);
  for (const driver of drivers) {
    const candidates = probe(work, driver);
    if (candidates !== undefined) return yield* readCandidates(work, candidates);
    yield;
  }
  const current = isIndexed(kind) && sources.isCurrent(kind, instance);
  const query = current ? trigramQuery(table.trigrams, search) : undefined;
  if (query !== undefined) return yield* readTrigrams(work, query);
  return yield* scan(
    work,
    drivers.find(({ ordered }) => ordered !== undefined),
  );
}

/** The numbers of all rows within the ranges; undefined when they are too many. */
function probe({ db, table, request, steps }: Work, driver: Driver): number[] | undefined {
  const found = new Set<number>();
  for (const { sql, values } of driver.ranges) {
    const rows = readAll<{ seq: number }>(
      db,
      `select t.seq from ${table.name} as t where t.instance = ? and ${sql} limit ?`,
      [request.instance, ...values, steps.candidatesMax + 1],
    );
    for (const { seq } of rows) found.add(seq);
    if (found.size > steps.candidatesMax) return undefined;
  }
  const before = request.before ?? Number.MAX_SAFE_INTEGER;
  return [...found].filter((seq) => seq < before).sort((a, b) => b - a);
}

function* readCandidates(work: Work, seqs: number[]): Generator<undefined, SearchResult> {
  const { page, steps } = work;
  for (let at = 0; at < seqs.length && !page.full; at += steps.rowsPerRead) {
    readSome(work, seqs.slice(at, at + steps.rowsPerRead));
    yield;
  }
  return page.result();
}

/** Reads these rows, newest first, and offers those that meet the conditions. */
function readSome({ db, table, request, page, where }: Work, seqs: readonly number[]): void {
  const rows = readAll<FoundRow>(
    db,
    `select ${table.select} from ${table.name} as t where t.seq in (select value from json_each(?))` +
      ` and +t.instance = ?${where.sql} order by t.seq desc`,
    [JSON.stringify(seqs), request.instance, ...where.values],
  );
  for (const row of rows) page.offer(row);
}

/** Asking for fewer costs as much. */
const fewest = 64;

/** The newest rows with all trigrams, and more of them while they are too few: not each is one that is looked for. */
function* readTrigrams(work: Work, query: string): Generator<undefined, SearchResult> {
  const { db, request, page, index, steps } = work;
  const { kind, instance, before = Number.MAX_SAFE_INTEGER } = request;
  if (!isIndexed(kind)) return page.result();
  const grams = indexTable(kind, instance);
  const statement =
    `select rowid as seq from grams.${grams} where ${grams} match ? and rowid >= ? and rowid < ?` +
    " order by rowid desc limit ?";
  for (const { low, high: end } of rangesOf(index, request)) {
    let high = Math.min(end, before);
    while (high > low && !page.full) {
      const wanted = Math.ceil(page.room / page.yield);
      const most = Math.min(Math.max(wanted, fewest), steps.rowsPerRead * 4);
      const seqs = readAll<{ seq: number }>(db, statement, [query, low, high, most]).map(({ seq }) => seq);
      readSome(work, seqs);
      high = seqs.length < most ? low : (seqs.at(-1) ?? low);
      yield;
    }
  }
  return page.result();
}

/** Reads along the rows of the instance, or those of one value that an index has in order. */
function* scan(work: Work, along: Driver | undefined): Generator<undefined, SearchResult> {
  const { request, page } = work;
  const ranges = rangesOf(work.index, request);
  for (const range of ranges) {
    let high = Math.min(range.high, request.before ?? Number.MAX_SAFE_INTEGER);
    while (high > range.low && !page.full) {
      high = scanSlice(work, along, { low: range.low, high });
      yield;
    }
  }
  return page.result();
}

/** Reads the newest rows of the range; returns where to go on. */
function scanSlice(
  { db, table, request, page, where, steps }: Work,
  along: Driver | undefined,
  range: SeqRange,
): number {
  const [value] = along?.ranges ?? [];
  // Named, for the planner would take the index of the instance and read past everything else in it.
  const index = along?.ordered ?? table.byInstance;
  const only = value === undefined ? "" : ` and ${value.sql}`;
  const source = {
    sql: `${table.name} as t indexed by ${index} where t.instance = ?${only}`,
    values: value?.values ?? [],
  };
  const bound = [request.instance, ...source.values];
  const edge = readAll<{ seq: number }>(
    db,
    `select t.seq from ${source.sql} and t.seq >= ? and t.seq < ? order by t.seq desc limit 1 offset ?`,
    [...bound, range.low, range.high, steps.rowsPerScan - 1],
  );
  const low = edge[0]?.seq ?? range.low;
  const most = Math.min(page.room, steps.rowsPerRead);
  const rows = readAll<FoundRow>(
    db,
    `select ${table.select} from ${source.sql} and t.seq >= ? and t.seq < ?${where.sql} order by t.seq desc limit ?`,
    [...bound, low, range.high, ...where.values, most],
  );
  for (const row of rows) page.offer(row);
  const last = rows.at(-1);
  return rows.length < most || last === undefined ? low : last.seq;
}

/** Finalized at once: every search is another text, and a cache of them would have no end. */
function readAll<Row>(db: Database, sql: string, values: (string | number)[]): Row[] {
  const statement = db.prepare<Row, (string | number)[]>(sql);
  try {
    return statement.all(...values);
  } finally {
    statement.finalize();
  }
}
