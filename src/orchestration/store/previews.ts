import type { Database } from "bun:sqlite";
import type { PreviewRecord } from "./preview-records.ts";
import type { Transaction } from "./store.ts";

interface Row extends Omit<PreviewRecord, "host" | "of"> {
  parent: string;
  host: string | null;
}

export function createPreviews(db: Database): Transaction["previews"] {
  const all = db.query<Row, []>("select * from previews order by scope");
  const upsert = db.query<unknown, (string | number | null)[]>(
    "insert or replace into previews (scope, parent, branch, host, at, until) values (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string]>("delete from previews where scope = ?");
  return {
    list: () => all.all().map(({ parent, host, ...row }) => ({ ...row, of: parent, host: host ?? undefined })),
    put: ({ scope, of, branch, host, at, until }) => {
      upsert.run(scope, of, branch, host ?? null, at, until);
    },
    remove: (scope) => {
      drop.run(scope);
    },
  };
}
