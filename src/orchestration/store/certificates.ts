import type { Database } from "bun:sqlite";
import type { CertificateDocument, CertificateReads, CertificateWrites } from "./certificate-records.ts";
import type { Seal } from "../../base/sqlite/seal.ts";

interface Row {
  kind: string;
  id: string;
  document: Uint8Array;
  updated_at: number;
}

/** Documents about certificates, each sealed for its own row. */
export function createCertificates(db: Database, seal: Seal): CertificateReads & CertificateWrites {
  const byId = db.query<Row, [string, string]>("select * from certificates where kind = ? and id = ?");
  const ofKind = db.query<Row, [string]>("select * from certificates where kind = ? order by id");
  const upsert = db.query<unknown, [string, string, Uint8Array, number]>(
    "insert or replace into certificates (kind, id, document, updated_at) values (?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string, string]>("delete from certificates where kind = ? and id = ?");
  const open = (row: Row): CertificateDocument => ({
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

function placeOf(kind: string, id: string): string {
  return ["certificates", kind, id].join("\0");
}
