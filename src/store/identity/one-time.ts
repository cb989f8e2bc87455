import type { Database } from "bun:sqlite";
import type { Seal } from "../seal.ts";
import type { OneTime, OneTimePurpose } from "./records.ts";

interface Row {
  hash: Uint8Array;
  instance: number;
  user: number | null;
  purpose: string;
  data: Uint8Array;
  created_at: number;
  expires_at: number;
}

/** Values that wait at one time, over all instances; beyond it those that end first are dropped. */
const keptMax = 100_000;
const trimEvery = 1_000;

export interface OneTimes {
  put(value: OneTime): void;
  /** Leaves it where it is: for showing a form. */
  get(hash: Uint8Array, purpose: OneTimePurpose): OneTime | undefined;
  /** Removes it and returns it: nobody gets it twice. */
  take(hash: Uint8Array, purpose: OneTimePurpose): OneTime | undefined;
  /** All of one user. */
  clear(user: number, purpose: OneTimePurpose): void;
}

/** Values in mails and redirects that work once: known by their sha256, their data sealed. */
export function createOneTime(db: Database, seal: Seal, kept: number = keptMax): OneTimes {
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into one_time (hash, instance, user, purpose, data, created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?)",
  );
  const one = db.query<Row, [Uint8Array, string]>("select * from one_time where hash = ? and purpose = ?");
  const take = db.query<Row, [Uint8Array, string]>("delete from one_time where hash = ? and purpose = ? returning *");
  const clear = db.query<unknown, [number, string]>("delete from one_time where user = ? and purpose = ?");
  const trim = db.query<unknown, [number]>(
    "delete from one_time where hash in (select hash from one_time order by expires_at desc limit -1 offset ?)",
  );
  const read = (row: Row | null): OneTime | undefined => (row === null ? undefined : toOneTime(row, seal));
  let puts = 0;
  return {
    put({ hash, instance, user, purpose, data, createdAt, expiresAt }) {
      if (puts++ % trimEvery === 0) trim.run(kept);
      const sealed = seal.seal(JSON.stringify(data), placeOf(hash, purpose));
      insert.run(hash, instance, user ?? null, purpose, sealed, createdAt, expiresAt);
    },
    get: (hash, purpose) => read(one.get(hash, purpose)),
    take: (hash, purpose) => read(take.get(hash, purpose)),
    clear(user, purpose) {
      clear.run(user, purpose);
    },
  };
}

function toOneTime(row: Row, seal: Seal): OneTime {
  return {
    hash: row.hash,
    instance: row.instance,
    user: row.user ?? undefined,
    purpose: row.purpose as OneTimePurpose,
    data: JSON.parse(seal.open(row.data, placeOf(row.hash, row.purpose))) as Record<string, unknown>,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

function placeOf(hash: Uint8Array, purpose: string): string {
  return ["one_time", Buffer.from(hash).toString("hex"), purpose].join("\0");
}
