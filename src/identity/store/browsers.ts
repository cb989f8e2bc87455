import type { Database } from "bun:sqlite";
import type { BrowserRecord } from "./records.ts";

interface Row {
  hash: Uint8Array;
  instance: number;
  session: number;
  created_at: number;
  expires_at: number;
}

export interface Browsers {
  /** Within one instance. */
  get(instance: number, hash: Uint8Array): BrowserRecord | undefined;
  /** Inserts, or points the browser to another session. */
  put(browser: BrowserRecord): void;
  remove(hash: Uint8Array): boolean;
}

/** Which browsers are signed in at the hosted pages. */
export function createBrowsers(db: Database): Browsers {
  const one = db.query<Row, [number, Uint8Array]>("select * from browsers where instance = ? and hash = ?");
  const upsert = db.query<unknown, [Uint8Array, number, number, number, number]>(
    "insert into browsers (hash, instance, session, created_at, expires_at) values (?, ?, ?, ?, ?)" +
      " on conflict (hash) do update set session = excluded.session, expires_at = excluded.expires_at" +
      " where instance = excluded.instance",
  );
  const drop = db.query<unknown, [Uint8Array]>("delete from browsers where hash = ?");
  return {
    get(instance, hash) {
      const row = one.get(instance, hash);
      if (row === null) return undefined;
      return { hash, instance, session: row.session, createdAt: row.created_at, expiresAt: row.expires_at };
    },
    put({ hash, instance, session, createdAt, expiresAt }) {
      upsert.run(hash, instance, session, createdAt, expiresAt);
    },
    remove: (hash) => drop.run(hash).changes > 0,
  };
}
