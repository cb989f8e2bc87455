import type { Database } from "bun:sqlite";
import type { Receipt } from "../api/receipt.ts";
import type { Transaction } from "./store.ts";

/** Deploy receipts by the id of their release; they go with it. */
export function createReceipts(db: Database): Transaction["receipts"] {
  const sql = {
    get: db.query<{ document: string }, [string]>("select document from receipts where release_id = ?"),
    put: db.query<unknown, [string, string]>(
      "insert into receipts (release_id, document) select id, ?2 from releases where id = ?1" +
        " on conflict (release_id) do update set document = excluded.document",
    ),
    dropOld: db.query<unknown, []>("delete from receipts where release_id not in (select id from releases)"),
  };
  return {
    get(releaseId) {
      const row = sql.get.get(releaseId);
      return row === null ? undefined : (JSON.parse(row.document) as Receipt);
    },
    put(releaseId, receipt) {
      sql.put.run(releaseId, JSON.stringify(receipt));
      sql.dropOld.run();
    },
  };
}
