import type { Database } from "bun:sqlite";
import { readableEmail } from "../../../base/pure/domain-names.ts";
import { fold } from "../../core/fold.ts";
import type { SearchKind } from "../../core/search-columns.ts";
import type { IndexFile } from "./index-file.ts";
import { searchTables } from "./tables.ts";

/** Kinds that have a trigram index. */
type IndexedKind = Extract<SearchKind, "users" | "sessions">;
export const indexedKinds: readonly IndexedKind[] = ["users", "sessions"];

export function isIndexed(kind: SearchKind): kind is IndexedKind {
  return kind === "users" || kind === "sessions";
}

/** A run of rows by `seq`, `low` included and `high` not, with the times of creation found in it. */
export interface Zone {
  low: number;
  high: number;
  earliest: number;
  latest: number;
}

/** Trigram indexes, one per kind and instance that is large enough to be worth it. */
export interface SearchIndex {
  /**
   * Takes up to `most` rows or changes into the index of an instance; true while there is more to do. Nothing is made
   * for an instance with few rows: reading them all is as fast.
   */
  step(kind: IndexedKind, instance: number, most: number): boolean;
  /** The last row in the index; undefined when the instance has none. */
  upto(kind: SearchKind, instance: number): number | undefined;
  zones(kind: SearchKind, instance: number): Zone[];
  /** Takes up to `most` changed rows into the indexes; returns the number of the last change that is done with. */
  applyChanges(most: number): { done: number; more: boolean };
  /** Drops indexes of instances that are gone, and those of which most rows are gone. */
  tidy(): void;
}

interface SearchIndexOptions {
  file: IndexFile;
  /** The identity database, opened for reading. */
  source: Database;
  /** Instances with no more rows have no index. */
  smallMax: number;
}

export function indexTable(kind: IndexedKind, instance: number): string {
  return `grams_${kind}_${instance}`;
}

export function createSearchIndex({ file, source, smallMax }: SearchIndexOptions): SearchIndex {
  const { db } = file;
  const sql = prepare(db, source);
  const uptoOf = (kind: SearchKind, instance: number) => sql.progress.get(kind, instance)?.upto;

  function create(kind: IndexedKind, instance: number): void {
    const columns = searchTables[kind].trigrams.join(", ");
    const options = "content='', contentless_delete=1, detail='column', tokenize='trigram'";
    db.transaction(() => {
      drop(kind, instance);
      db.run(`create virtual table ${indexTable(kind, instance)} using fts5(${columns}, ${options})`);
      sql.save.run(kind, instance, 0, 0);
    })();
  }

  function drop(kind: IndexedKind, instance: number): void {
    db.run(`drop table if exists ${indexTable(kind, instance)}`);
    sql.forget.run(kind, instance);
    sql.forgetZones.run(kind, instance);
  }

  function add(kind: IndexedKind, instance: number, rows: readonly IndexRow[]): void {
    const columns = searchTables[kind].trigrams;
    const places = columns.map(() => "?").join(", ");
    const insert = db.prepare<unknown, (string | number)[]>(
      `insert into ${indexTable(kind, instance)} (rowid, ${columns.join(", ")}) values (?, ${places})`,
    );
    try {
      for (const row of rows)
        insert.run(row.seq, ...columns.map((column) => indexed(column, String(row[column] ?? ""))));
    } finally {
      insert.finalize();
    }
  }

  function replace(kind: IndexedKind, instance: number, seq: number): void {
    const statement = db.prepare<unknown, [number]>(`delete from ${indexTable(kind, instance)} where rowid = ?`);
    statement.run(seq);
    statement.finalize();
    const row = sql.one[kind].get(seq);
    if (row !== null) add(kind, instance, [row]);
  }

  return {
    upto: uptoOf,
    zones: (kind, instance) => sql.zones.all(kind, instance),
    step(kind, instance, most) {
      const known = uptoOf(kind, instance);
      if (known === undefined) {
        const { rows } = sql.count[kind].get(instance, smallMax + 1) ?? { rows: 0 };
        if (rows <= smallMax) return false;
        create(kind, instance);
      }
      const upto = known ?? 0;
      const rows = sql.next[kind].all(instance, upto, most);
      const last = rows.at(-1);
      if (last === undefined) return false;
      db.transaction(() => {
        add(kind, instance, rows);
        const times = rows.map(({ created_at }) => created_at);
        sql.addZone.run(kind, instance, upto + 1, last.seq + 1, Math.min(...times), Math.max(...times));
        sql.advance.run(last.seq, rows.length, kind, instance);
      })();
      return rows.length === most;
    },
    applyChanges(most) {
      const changes = sql.changes.all(file.changes(), most);
      const last = changes.at(-1);
      if (last === undefined) return { done: file.changes(), more: false };
      db.transaction(() => {
        // Changes that were dropped before they were seen may have been to any row.
        if (changes[0]?.n !== file.changes() + 1) for (const { kind, instance } of sql.all.all()) drop(kind, instance);
        for (const { kind, instance, row } of changes) {
          const upto = uptoOf(kind, instance);
          if (upto !== undefined && row <= upto) replace(kind, instance, row);
        }
        file.setChanges(last.n);
      })();
      return { done: last.n, more: changes.length === most };
    },
    tidy() {
      for (const { kind, instance, added } of sql.all.all()) {
        const { rows } = sql.count[kind].get(instance, Number.MAX_SAFE_INTEGER) ?? { rows: 0 };
        if (rows > smallMax && added <= 2 * rows + smallMax) continue;
        db.transaction(() => drop(kind, instance))();
      }
    },
  };
}

/** An address can be looked for as it is stored, and as people read it. */
function indexed(column: string, text: string): string {
  const readable = column === "email" ? readableEmail(text) : text;
  return fold(readable === text ? text : `${text}\n${readable}`);
}

interface IndexRow {
  seq: number;
  created_at: number;
  [column: string]: string | number;
}

interface Change {
  n: number;
  kind: IndexedKind;
  instance: number;
  row: number;
}

function prepare(db: Database, source: Database) {
  const perKind = <T>(make: (table: string, columns: string) => T): Record<IndexedKind, T> => ({
    users: make("users indexed by users_by_instance", searchTables.users.trigrams.join(", ")),
    sessions: make("sessions indexed by sessions_by_instance", searchTables.sessions.trigrams.join(", ")),
  });
  return {
    progress: db.query<{ upto: number }, [string, number]>("select upto from progress where kind = ? and instance = ?"),
    all: db.query<{ kind: IndexedKind; instance: number; added: number }, []>("select * from progress"),
    save: db.query<unknown, [string, number, number, number]>("insert into progress values (?, ?, ?, ?)"),
    advance: db.query<unknown, [number, number, string, number]>(
      "update progress set upto = ?, added = added + ? where kind = ? and instance = ?",
    ),
    forget: db.query<unknown, [string, number]>("delete from progress where kind = ? and instance = ?"),
    zones: db.query<Zone, [string, number]>(
      "select low, high, earliest, latest from zones where kind = ? and instance = ? order by low desc",
    ),
    addZone: db.query<unknown, [string, number, number, number, number, number]>(
      "insert into zones (kind, instance, low, high, earliest, latest) values (?, ?, ?, ?, ?, ?)",
    ),
    forgetZones: db.query<unknown, [string, number]>("delete from zones where kind = ? and instance = ?"),
    changes: source.query<Change, [number, number]>("select * from search_changes where n > ? order by n limit ?"),
    count: perKind((table) =>
      source.query<{ rows: number }, [number, number]>(
        `select count(*) as rows from (select 1 from ${table} where instance = ? limit ?)`,
      ),
    ),
    next: perKind((table, columns) =>
      source.query<IndexRow, [number, number, number]>(
        `select seq, created_at, ${columns} from ${table} where instance = ? and seq > ? order by seq limit ?`,
      ),
    ),
    one: {
      users: source.query<IndexRow, [number]>(
        `select seq, created_at, ${searchTables.users.trigrams.join(", ")} from users where seq = ?`,
      ),
      sessions: source.query<IndexRow, [number]>(
        `select seq, created_at, ${searchTables.sessions.trigrams.join(", ")} from sessions where seq = ?`,
      ),
    },
  };
}
