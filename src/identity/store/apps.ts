import type { Database } from "bun:sqlite";
import type { App } from "./records.ts";

interface Row {
  id: string;
  name: string;
  created_at: number;
}

export interface Apps {
  get(id: string): App | undefined;
  byName(name: string): App | undefined;
  list(): App[];
  put(app: App): void;
  /** With all its instances. False when it was not there. */
  remove(id: string): boolean;
}

/** `changed` is called after every write. */
export function createApps(db: Database, changed: () => void): Apps {
  const byId = db.query<Row, [string]>("select * from apps where id = ?");
  const byName = db.query<Row, [string]>("select * from apps where name = ?");
  const all = db.query<Row, []>("select * from apps order by seq");
  const upsert = db.query<unknown, [string, string, number]>(
    "insert into apps (id, name, created_at) values (?, ?, ?) on conflict (id) do update set name = excluded.name",
  );
  const dropInstances = db.query<unknown, [string]>("delete from instances where app_id = ?");
  const drop = db.query<unknown, [string]>("delete from apps where id = ?");
  return {
    get: (id) => toApp(byId.get(id)),
    byName: (name) => toApp(byName.get(name)),
    list: () => all.all().flatMap((row) => toApp(row) ?? []),
    put({ id, name, createdAt }) {
      upsert.run(id, name, createdAt);
      changed();
    },
    remove(id) {
      changed();
      dropInstances.run(id);
      return drop.run(id).changes > 0;
    },
  };
}

function toApp(row: Row | null): App | undefined {
  return row === null ? undefined : { id: row.id, name: row.name, createdAt: row.created_at };
}
