import type { Database } from "bun:sqlite";
import { type Chunk, decodeChunk, encodeChunk } from "../../core/metrics/chunk.ts";
import { decodeTick, encodeTick, type Tick } from "../../core/metrics/tick.ts";
import { chunkMs, type Tier } from "../../core/metrics/tiers.ts";
import { openArchive } from "../archive-database.ts";
import { replicaRows, type ReplicaRows } from "./replicas.ts";

/** Released steps are never edited. Deleted rows give their pages back to the disk: see `openArchiveDatabase`. */
const metricMigrations: readonly string[] = [
  `
  create table series (
    id integer primary key,
    key text not null unique,
    created_at integer not null,
    seen_at integer not null
  ) strict;
  -- What has been sampled and is not in chunks yet: one row for all series.
  create table tail (at integer primary key, data blob not null) strict;
  -- In the order of time, so that new rows come at the end and old ones go from the beginning.
  create table chunks (
    tier integer not null,
    place integer not null,
    series integer not null,
    data blob not null,
    primary key (tier, place, series)
  ) strict, without rowid;
  create table facts (name text primary key, value integer not null) strict, without rowid;
  -- Which container was a replica, and when.
  create table replicas (
    container text not null,
    kind text not null,
    scope text not null,
    name text not null,
    replica text not null,
    replica_id text not null,
    began_at integer not null,
    seen_at integer not null,
    primary key (container, began_at)
  ) strict, without rowid;
  `,
];

/** The only SQL of `metrics.db`. Every call is synchronous and short. */
export interface MetricsStore {
  /** Reads all series that are known. */
  series(): SeriesRow[];
  addSeries(key: string, at: number): number;
  /** Notes that these series still have samples. */
  seen(ids: readonly number[], at: number): void;
  /** Forgets series without a chunk that were last seen before `before`; their numbers. */
  forgetSeries(before: number): number[];
  appendTick(at: number, tick: Tick): void;
  /** What is not in chunks yet, oldest first. */
  tail(): { at: number; tick: Tick }[];
  dropTail(from: number, to: number): void;
  /** Undefined where there is none. */
  chunk(tier: Tier, start: number, series: number): Chunk | undefined;
  putChunk(tier: Tier, start: number, row: { series: number; chunk: Chunk }): void;
  /** Series with a chunk of the tier that begins from `from` up to, not including, `to`. */
  seriesWithin(tier: Tier, from: number, to: number): number[];
  /** Where the first chunk of the tier begins that begins at `from` or later; undefined without one. */
  firstStart(tier: Tier, from?: number): number | undefined;
  /** Deletes up to `count` chunks of the tier that begin before `before`; how many they were. */
  deleteBefore(tier: Tier, before: number, count: number): number;
  /** Like `deleteBefore`, for those that begin after `after`: of a clock that was wrong. */
  deleteAfter(tier: Tier, after: number): number;
  fact(name: string): number | undefined;
  setFact(name: string, value: number): void;
  replicas: ReplicaRows;
  /** Several writes as one. */
  together(work: () => void): void;
  /** Bytes in use, without pages that are free. */
  usedBytes(): number;
  /** Gives some free pages back to the disk; whether there are more. */
  shrink(pages: number): boolean;
  counts(): { series: number; chunks: Record<number, number>; tailRows: number };
  close(): void;
}

/** `onSetAside` receives why the file that was there could not be used. */
export function openMetricsStore(file: string, onSetAside: (why: string) => void): MetricsStore {
  return openArchive(file, { migrations: metricMigrations, reads: ["chunks", "tail"], onSetAside }, storeOn);
}

function storeOn(db: Database): MetricsStore {
  const place = (tier: Tier, start: number) => Math.floor(start / chunkMs(tier));
  const number = (sql: string) => {
    const statement = db.query<{ n: number | null }, (string | number)[]>(sql);
    return (...parameters: (string | number)[]) => statement.get(...parameters)?.n ?? undefined;
  };
  const getChunk = db.query<{ data: Uint8Array }, [number, number, number]>(
    "select data from chunks where tier = ? and place = ? and series = ?",
  );
  const putChunk = db.query<unknown, [number, number, number, Uint8Array]>(
    "insert or replace into chunks (tier, place, series, data) values (?, ?, ?, ?)",
  );
  const within = db.query<{ series: number }, [number, number, number]>(
    "select distinct series from chunks where tier = ? and place >= ? and place < ? order by series",
  );
  const first = number("select min(place) as n from chunks where tier = ? and place >= ?");
  const deleteSome = db.query<unknown, [number, number, number]>(
    "delete from chunks where (tier, place, series) in" +
      " (select tier, place, series from chunks where tier = ? and place < ? order by place limit ?)",
  );
  const deleteAfter = db.query<unknown, [number, number]>("delete from chunks where tier = ? and place > ?");
  const appendTick = db.query<unknown, [number, Uint8Array]>("insert or replace into tail (at, data) values (?, ?)");
  const dropTail = db.query<unknown, [number, number]>("delete from tail where at >= ? and at < ?");
  const fact = number("select value as n from facts where name = ?");
  const setFact = db.query<unknown, [string, number]>("insert or replace into facts (name, value) values (?, ?)");
  const pages = () => number("select page_count as n from pragma_page_count")() ?? 0;
  const free = () => number("select freelist_count as n from pragma_freelist_count")() ?? 0;
  const pageBytes = number("select page_size as n from pragma_page_size")() ?? 4_096;

  return {
    ...seriesRows(db),
    appendTick(at, tick) {
      appendTick.run(at, Bun.zstdCompressSync(encodeTick(tick), { level: 1 }));
    },
    tail: () => readTail(db),
    dropTail(from, to) {
      dropTail.run(from, to);
    },
    chunk(tier, start, series) {
      const row = getChunk.get(tier.id, place(tier, start), series);
      return row === null ? undefined : decodeChunk(unpack(row.data));
    },
    putChunk(tier, start, { series, chunk }) {
      putChunk.run(tier.id, place(tier, start), series, pack(encodeChunk(chunk)));
    },
    seriesWithin: (tier, from, to) =>
      within.all(tier.id, place(tier, from), place(tier, to)).map(({ series }) => series),
    firstStart(tier, from = 0) {
      const found = first(tier.id, place(tier, from));
      return found === undefined ? undefined : found * chunkMs(tier);
    },
    deleteBefore: (tier, before, count) => deleteSome.run(tier.id, place(tier, before), count).changes,
    deleteAfter: (tier, after) => deleteAfter.run(tier.id, place(tier, after)).changes,
    fact: (name) => fact(name),
    setFact(name, value) {
      setFact.run(name, value);
    },
    replicas: replicaRows(db),
    together(work) {
      db.transaction(work).immediate();
    },
    usedBytes: () => (pages() - free()) * pageBytes,
    shrink(count) {
      db.run(`pragma incremental_vacuum(${Math.floor(count)})`);
      return free() > 0;
    },
    counts: () => countRows(db),
    close() {
      db.close();
    },
  };
}

/** A row that cannot be read any more is passed over: it is the samples of one instant. */
function readTail(db: Database): { at: number; tick: Tick }[] {
  const rows = db.query<{ at: number; data: Uint8Array }, []>("select at, data from tail order by at").all();
  return rows.flatMap(({ at, data }) => {
    try {
      return [{ at, tick: decodeTick(Bun.zstdDecompressSync(data)) }];
    } catch {
      return [];
    }
  });
}

function countRows(db: Database): ReturnType<MetricsStore["counts"]> {
  const count = (sql: string) => db.query<{ n: number }, []>(sql).get()?.n ?? 0;
  const tiers = db.query<{ tier: number; n: number }, []>("select tier, count(*) as n from chunks group by tier").all();
  return {
    series: count("select count(*) as n from series"),
    chunks: Object.fromEntries(tiers.map(({ tier, n }) => [tier, n])),
    tailRows: count("select count(*) as n from tail"),
  };
}

const packing = { plain: 0, zstd: 1 } as const;

/** The first byte says how the rest is to be read. */
function pack(bytes: Uint8Array): Uint8Array {
  const small = Bun.zstdCompressSync(bytes, { level: 3 });
  const [mark, rest] = small.length < bytes.length ? [packing.zstd, small] : [packing.plain, bytes];
  const packed = new Uint8Array(rest.length + 1);
  packed[0] = mark;
  packed.set(rest, 1);
  return packed;
}

function unpack(bytes: Uint8Array): Uint8Array {
  const rest = bytes.subarray(1);
  if (bytes[0] === packing.plain) return rest;
  try {
    return Bun.zstdDecompressSync(rest);
  } catch {
    throw new RangeError("a chunk cannot be decompressed");
  }
}

/** One row of the table of series. */
interface SeriesRow {
  id: number;
  key: string;
  createdAt: number;
  seenAt: number;
}

function seriesRows(db: Database) {
  const add = db.query<{ id: number }, [string, number, number]>(
    "insert into series (key, created_at, seen_at) values (?, ?, ?)" +
      " on conflict (key) do update set seen_at = excluded.seen_at returning id",
  );
  const see = db.query<unknown, [number, number]>("update series set seen_at = ? where id = ?");
  const forget = db.query<{ id: number }, [number]>(
    "delete from series where seen_at < ? and id not in (select distinct series from chunks) returning id",
  );
  return {
    series: () =>
      db
        .query<SeriesRow, []>("select id, key, created_at as createdAt, seen_at as seenAt from series order by id")
        .all(),
    addSeries(key: string, at: number): number {
      const row = add.get(key, at, at);
      if (row === null) throw new Error("a series was not stored");
      return row.id;
    },
    seen(ids: readonly number[], at: number): void {
      for (const id of ids) see.run(at, id);
    },
    forgetSeries: (before: number) => forget.all(before).map(({ id }) => id),
  };
}
