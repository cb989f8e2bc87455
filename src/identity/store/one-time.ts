import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
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

const trimEvery = 1_000;
/** Stands for all of them where links are counted. */
const allInstances = 0;

export interface OneTimes {
  put(value: OneTime): void;
  /** A code that stands for a token: beyond about `kept` of them over all instances, those that end first are dropped. */
  putCode(value: Omit<OneTime, "purpose">, kept: number): void;
  /** How many links of mails wait, of everybody and of an instance. */
  linksWaiting(instance: number): { all: number; instance: number };
  /** Leaves it where it is: for showing a form. */
  get(hash: Uint8Array, purpose: OneTimePurpose): OneTime | undefined;
  /** Removes it and returns it: no caller gets it twice. */
  take(hash: Uint8Array, purpose: OneTimePurpose): OneTime | undefined;
  /** Those of one user that still wait. */
  waiting(user: number, purpose: OneTimePurpose, now: number): OneTime[];
  /** Removes some whose time is over, and returns them. */
  takeExpired(purpose: OneTimePurpose, now: number, most: number): OneTime[];
  /** All of one user. */
  clear(user: number, purpose: OneTimePurpose): void;
}

/** Values in mails and redirects that work once: known by their sha256, their data sealed. */
export function createOneTime(db: Database, seal: Seal): OneTimes {
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into one_time (hash, instance, user, purpose, data, created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?)",
  );
  const one = db.query<Row, [Uint8Array, string]>("select * from one_time where hash = ? and purpose = ?");
  const take = db.query<Row, [Uint8Array, string]>("delete from one_time where hash = ? and purpose = ? returning *");
  const clear = db.query<unknown, [number, string]>("delete from one_time where user = ? and purpose = ?");
  const waiting = db.query<Row, [number, string, number]>(
    "select * from one_time where user = ? and purpose = ? and expires_at > ?",
  );
  const takeExpired = db.query<Row, [string, number, number]>(
    "delete from one_time where hash in (select hash from one_time where purpose = ? and expires_at <= ? limit ?)" +
      " returning *",
  );
  const trim = db.query<unknown, [number]>(
    "delete from one_time where hash in (select hash from one_time where purpose = 'deliver_token'" +
      " order by expires_at desc limit -1 offset ?)",
  );
  const read = (row: Row | null): OneTime | undefined => (row === null ? undefined : toOneTime(row, seal));
  const counted = db.query<{ n: number }, [number]>("select n from one_time_counts where instance = ?");
  const count = (instance: number) => counted.get(instance)?.n ?? 0;
  const put = ({ hash, instance, user, purpose, data, createdAt, expiresAt }: OneTime): void => {
    const sealed = seal.seal(JSON.stringify(data), placeOf(hash, purpose));
    insert.run(hash, instance, user ?? null, purpose, sealed, createdAt, expiresAt);
  };
  let codes = 0;
  return {
    put,
    putCode(value, kept) {
      if (codes++ % trimEvery === 0) trim.run(kept);
      put({ ...value, purpose: "deliver_token" });
    },
    linksWaiting: (instance) => ({ all: count(allInstances), instance: count(instance) }),
    get: (hash, purpose) => read(one.get(hash, purpose)),
    take: (hash, purpose) => read(take.get(hash, purpose)),
    waiting: (user, purpose, now) => waiting.all(user, purpose, now).map((row) => toOneTime(row, seal)),
    takeExpired: (purpose, now, most) => takeExpired.all(purpose, now, most).map((row) => toOneTime(row, seal)),
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
