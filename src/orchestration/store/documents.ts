import type { Database } from "bun:sqlite";
import type { DocumentReads, DocumentWrites } from "./document-records.ts";
import type { Seal } from "../../base/sqlite/seal.ts";

interface Row {
  kind: string;
  id: string;
  document: Uint8Array;
  updated_at: number;
}

/** Documents of a table, each sealed for its own row. */
export function createDocuments<Kind extends string>(
  db: Database,
  seal: Seal,
  table: "certificates" | "backups",
): DocumentReads<Kind> & DocumentWrites<Kind> {
  const byId = db.query<Row, [string, string]>(`select * from ${table} where kind = ? and id = ?`);
  const ofKind = db.query<Row, [string]>(`select * from ${table} where kind = ? order by id`);
  const upsert = db.query<unknown, [string, string, Uint8Array, number]>(
    `insert or replace into ${table} (kind, id, document, updated_at) values (?, ?, ?, ?)`,
  );
  const drop = db.query<unknown, [string, string]>(`delete from ${table} where kind = ? and id = ?`);
  const placeOf = (kind: string, id: string) => [table, kind, id].join("\0");
  const open = (row: Row) => ({
    id: row.id,
    text: seal.open(row.document, placeOf(row.kind, row.id)),
    updatedAt: row.updated_at,
  });
  return {
    get(kind, id) {
      const row = byId.get(kind, id);
      return row === null ? undefined : open(row);
    },
    list: (kind) => ofKind.all(kind).map(open),
    put(kind, { id, text, updatedAt }) {
      upsert.run(kind, id, seal.seal(text, placeOf(kind, id)), updatedAt);
    },
    remove(kind, id) {
      drop.run(kind, id);
    },
  };
}
