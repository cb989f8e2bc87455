import type { Database } from "bun:sqlite";

/** How imports wrote the addresses of users whose lines named them by the address alone, in another form than is stored. */
export interface ImportForms {
  get(user: number): string | undefined;
  put(user: number, written: string): void;
}

export function createImportForms(db: Database): ImportForms {
  const select = db.query<{ written: string }, [number]>("select written from import_forms where user = ?");
  const upsert = db.query<unknown, [number, string]>(
    "insert or replace into import_forms (user, written) values (?, ?)",
  );
  return {
    get: (user) => select.get(user)?.written,
    put: (user, written) => void upsert.run(user, written),
  };
}
