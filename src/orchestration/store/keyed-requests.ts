import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { KeyedRequest } from "./keyed-request-records.ts";
import type { Transaction } from "./store.ts";

interface Row {
  key: string;
  digest: string;
  at: number;
  done: number;
  answer: Uint8Array | null;
}

/** The newest `kept`. Answers are sealed: they may tell what only the client should read. */
export function createKeyedRequests(db: Database, seal: Seal, kept: number): Transaction["keyedRequests"] {
  const byKey = db.query<Row, [string]>("select * from keyed_requests where key = ?");
  const upsert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert or replace into keyed_requests (key, digest, at, done, answer) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string]>("delete from keyed_requests where key = ?");
  const dropOld = db.query<unknown, [number]>("delete from keyed_requests where at < ?");
  const trim = db.query<unknown, [number]>(
    "delete from keyed_requests where at < (select at from keyed_requests order by at desc limit 1 offset ?)",
  );
  return {
    get(key) {
      const row = byKey.get(key);
      if (row === null) return undefined;
      const answer: KeyedRequest["answer"] =
        row.answer === null ? undefined : JSON.parse(seal.open(row.answer, placeOf(key)));
      return { ...row, done: row.done === 1, answer };
    },
    put({ key, digest, at, done, answer }, before) {
      const sealed = answer === undefined ? null : seal.seal(JSON.stringify(answer), placeOf(key));
      upsert.run(key, digest, at, Number(done), sealed);
      dropOld.run(before);
      trim.run(kept - 1);
    },
    remove: (key) => void drop.run(key),
  };
}

function placeOf(key: string): string {
  return `keyed_requests/${key}`;
}
