import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Key, KeyState } from "./records.ts";

interface Row {
  id: string;
  instance: number;
  use: string;
  state: string;
  sealed: Uint8Array;
  prefix: string;
  created_at: number;
  expires_at: number | null;
}

export interface Keys {
  /** By sha256 of the key: the comparison leaks nothing about the key itself. */
  byHash(hash: Uint8Array): Key | undefined;
  /** Keys of one instance, newest first. */
  list(instance: number): Key[];
  add(key: Key, hash: Uint8Array): void;
  setState(id: string, state: KeyState, expiresAt: number | undefined): void;
  remove(id: string): boolean;
}

/** Keys are stored as sha256 for lookup and sealed for signing. `changed` is called after every write. */
export function createKeys(db: Database, seal: Seal, changed: () => void): Keys {
  const byHash = db.query<Row, [Uint8Array]>("select * from keys where hash = ?");
  const list = db.query<Row, [number]>("select * from keys where instance = ? order by created_at desc, id");
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into keys (id, instance, use, state, hash, sealed, prefix, created_at, expires_at)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const setState = db.query<unknown, [string, number | null, string]>(
    "update keys set state = ?, expires_at = ? where id = ?",
  );
  const drop = db.query<unknown, [string]>("delete from keys where id = ?");
  const toKey = (row: Row): Key => ({
    id: row.id,
    instance: row.instance,
    use: row.use === "api" ? "api" : "secret",
    state: row.state === "signing" || row.state === "previous" ? row.state : "staged",
    value: seal.open(row.sealed, placeOf(row.id)),
    prefix: row.prefix,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  });
  return {
    byHash(hash) {
      const row = byHash.get(hash);
      return row === null ? undefined : toKey(row);
    },
    list: (instance) => list.all(instance).map(toKey),
    add({ id, instance, use, state, value, prefix, createdAt, expiresAt }, hash) {
      const sealed = seal.seal(value, placeOf(id));
      insert.run(id, instance, use, state, hash, sealed, prefix, createdAt, expiresAt ?? null);
      changed();
    },
    setState(id, state, expiresAt) {
      setState.run(state, expiresAt ?? null, id);
      changed();
    },
    remove(id) {
      changed();
      return drop.run(id).changes > 0;
    },
  };
}

function placeOf(id: string): string {
  return ["keys", id, "value"].join("\0");
}
