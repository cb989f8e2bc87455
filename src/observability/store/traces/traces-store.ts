import type { Database } from "bun:sqlite";
import type { LogApp } from "../../core/logs/line.ts";
import { partsOf, type Span, type TracePart } from "../../core/traces/span.ts";
import { openArchive } from "../archive-database.ts";

/** Released steps are never edited. */
const traceMigrations: readonly string[] = [
  `
  create table apps (
    id integer primary key,
    scope text not null,
    name text not null,
    unique (scope, name)
  ) strict;
  -- Spans of one app that came together, packed. New ones come at the end, and old ones go from the beginning.
  create table blocks (
    id integer primary key,
    app integer not null,
    at integer not null,
    spans integer not null,
    data blob not null
  ) strict;
  create index blocks_app on blocks (app, id);
  -- What a block has of one trace.
  create table parts (
    trace blob not null,
    block integer not null,
    app integer not null,
    from_us integer not null,
    until_us integer not null,
    spans integer not null,
    errors integer not null,
    root text not null,
    words text not null,
    primary key (trace, block)
  ) strict, without rowid;
  create index parts_time on parts (from_us, trace);
  create index parts_block on parts (block);
  `,
];

/** What one app sent of a trace at one time, and where its spans are. */
export interface StoredPart extends TracePart {
  app: LogApp;
  block: number;
}

/** The only SQL of `traces.db`. Every call is synchronous and short. */
export interface TracesStore {
  /** Stores spans that came together; `at`: epoch milliseconds. */
  add(app: LogApp, at: number, spans: readonly Span[]): void;
  /** Parts that begin before a place in the order of time, the newest first. */
  partsBefore(place: { us: number; trace: string }, limit: number): StoredPart[];
  /** The parts of a trace, the first ones where there are very many. */
  partsOf(trace: string): StoredPart[];
  /** The spans of a block that are of the trace. */
  spansOf(part: Pick<StoredPart, "block" | "trace">): Span[];
  /** Deletes up to `count` of the oldest blocks that came before `before`, of all apps or of one; how many they were. */
  deleteOldest(how: { before: number; count: number; app?: number }): number;
  /** Bytes of packed spans of each app. */
  appBytes(): ReadonlyMap<number, number>;
  counts(): { spans: number; oldestAt: number | undefined };
  /** Bytes in use, without pages that are free. */
  usedBytes(): number;
  /** Gives some free pages back to the disk. */
  shrink(pages: number): void;
  close(): void;
}

/** `onSetAside` receives why the file that was there could not be used. */
export function openTracesStore(file: string, onSetAside: (why: string) => void): TracesStore {
  return openArchive(file, { migrations: traceMigrations, reads: ["blocks", "parts"], onSetAside }, storeOn);
}

interface PartRow extends Omit<TracePart, "trace"> {
  trace: Uint8Array;
  block: number;
  scope: string;
  name: string;
}

const columns =
  "p.trace, p.block, a.scope, a.name, p.from_us as fromUs, p.until_us as untilUs, p.spans, p.errors, p.root, p.words";

const packLevel = 6;
/** Parts of one trace that are read: an app that gives all its spans one id must not make others wait. */
const partsMax = 1_000;

interface BlockRow {
  id: number;
  app: number;
  spans: number;
  bytes: number;
}

function storeOn(db: Database): TracesStore {
  const app = db.query<{ id: number }, [string, string]>(
    "insert into apps (scope, name) values (?, ?) on conflict (scope, name) do update set name = excluded.name returning id",
  );
  const addBlock = db.query<{ id: number }, [number, number, number, Uint8Array]>(
    "insert into blocks (app, at, spans, data) values (?, ?, ?, ?) returning id",
  );
  const addPart = db.query<unknown, (string | number | Uint8Array)[]>(
    "insert into parts (trace, block, app, from_us, until_us, spans, errors, root, words) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const before = db.query<PartRow, [number, number, Uint8Array, number]>(
    `select ${columns} from parts p join apps a on a.id = p.app` +
      " where p.from_us < ? or (p.from_us = ? and p.trace < ?) order by p.from_us desc, p.trace desc limit ?",
  );
  const ofTrace = db.query<PartRow, [Uint8Array]>(
    `select ${columns} from parts p join apps a on a.id = p.app where p.trace = ? order by p.from_us, p.block limit ${partsMax}`,
  );
  const block = db.query<{ data: Uint8Array }, [number]>("select data from blocks where id = ?");
  const row = "select id, app, spans, length(data) as bytes from blocks";
  const oldest = db.query<BlockRow, [number, number]>(`${row} where at < ? order by id limit ?`);
  const oldestOf = db.query<BlockRow, [number, number, number]>(`${row} where at < ? and app = ? order by id limit ?`);
  const dropParts = db.query<unknown, [number]>("delete from parts where block = ?");
  const dropBlock = db.query<unknown, [number]>("delete from blocks where id = ?");
  const oldestAt = db.query<{ at: number }, []>("select at from blocks order by id limit 1");
  const sizes = new Map<number, number>();
  let spansKept = 0;
  const count = (app: number, bytes: number, spans: number) => {
    sizes.set(app, (sizes.get(app) ?? 0) + bytes);
    spansKept += spans;
  };
  const sums = "select app, sum(length(data)) as bytes, sum(spans) as spans from blocks group by app";
  for (const one of db.query<Omit<BlockRow, "id">, []>(sums).all()) count(one.app, one.bytes, one.spans);
  const number = (sql: string) => db.query<{ n: number | null }, []>(sql).get()?.n ?? undefined;

  return {
    add(owner, at, spans) {
      const data = Bun.zstdCompressSync(JSON.stringify(spans), { level: packLevel });
      const id = db
        .transaction(() => {
          const { id = 0 } = app.get(owner.scope, owner.name) ?? {};
          const { id: blockId = 0 } = addBlock.get(id, at, spans.length, data) ?? {};
          for (const part of partsOf(spans)) {
            const { trace, fromUs, untilUs, errors, root, words } = part;
            addPart.run(bytesOf(trace), blockId, id, fromUs, untilUs, part.spans, errors, root, words);
          }
          return id;
        })
        .immediate();
      count(id, data.length, spans.length);
    },
    partsBefore: ({ us, trace }, limit) => before.all(us, us, bytesOf(trace), limit).map(partOf),
    partsOf: (trace) => ofTrace.all(bytesOf(trace)).map(partOf),
    spansOf({ block: id, trace }) {
      const found = block.get(id);
      if (found === null) return [];
      const spans = JSON.parse(Bun.zstdDecompressSync(found.data).toString()) as Span[];
      return spans.filter((span) => span.trace === trace);
    },
    deleteOldest({ before: at, count: most, app: only }) {
      const rows = only === undefined ? oldest.all(at, most) : oldestOf.all(at, only, most);
      db.transaction(() => {
        for (const { id } of rows) {
          dropParts.run(id);
          dropBlock.run(id);
        }
      }).immediate();
      for (const { app: id, bytes, spans } of rows) count(id, -bytes, -spans);
      return rows.length;
    },
    appBytes: () => sizes,
    counts: () => ({ spans: spansKept, oldestAt: oldestAt.get()?.at }),
    usedBytes() {
      const pages =
        (number("select page_count as n from pragma_page_count") ?? 0) -
        (number("select freelist_count as n from pragma_freelist_count") ?? 0);
      return pages * (number("select page_size as n from pragma_page_size") ?? 4_096);
    },
    shrink(pages) {
      db.run(`pragma incremental_vacuum(${Math.floor(pages)})`);
    },
    close() {
      db.close();
    },
  };
}

const bytesOf = (hex: string) => Uint8Array.fromHex(hex);

function partOf({ trace, scope, name, ...row }: PartRow): StoredPart {
  return { ...row, trace: trace.toHex(), app: { scope, name } };
}
