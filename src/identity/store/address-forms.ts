import type { Database } from "bun:sqlite";
import { createMeta } from "../../base/sqlite/meta.ts";
import { normaliseEmail } from "../core/email.ts";

/** As in the migration, or its index is not used. */
export const writtenDomain =
  "length(substr(email, instr(email, '@'))) <> length(cast(substr(email, instr(email, '@')) as blob))";

interface Row {
  seq: number;
  instance: number;
  email: string;
}

/** Tables that may have many rows: each is read once, in this version's first start. */
const others = ["identities", "sessions", "audit"];
const form = "xn";

/**
 * Brings addresses that earlier versions stored (`ana@münchen.de`) into their one form. Where that makes one address of
 * two users, both stay as they are: people have to say which of them is right.
 */
export function settleAddresses(db: Database): void {
  const meta = createMeta(db);
  const taken = db.query<unknown, [number, string]>("select 1 from users where instance = ? and email = ?");
  db.transaction(() => {
    rewrite(db, "users", ({ instance }, email) => taken.get(instance, email) === null);
    if (meta.get("address_form") === form) return;
    for (const table of others) rewrite(db, table, () => true);
    meta.put("address_form", form);
  }).immediate();
}

function rewrite(db: Database, table: string, isFree: (row: Row, email: string) => boolean): void {
  const rows = db.query<Row, []>(`select seq, instance, email from ${table} where ${writtenDomain} order by seq`).all();
  const update = db.query<unknown, [string, number]>(`update ${table} set email = ? where seq = ?`);
  for (const row of rows) {
    const email = normaliseEmail(row.email);
    if (email !== undefined && email !== row.email && isFree(row, email)) update.run(email, row.seq);
  }
}
