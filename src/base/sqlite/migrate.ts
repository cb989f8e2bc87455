import type { Database } from "bun:sqlite";
import { Failure } from "../wire/failure.ts";

/** The schema a database file has; 0 for one without tables of ours. */
export function schemaOf(db: Database): number {
  return db.query<{ user_version: number }, []>("pragma user_version").get()?.user_version ?? 0;
}

/** Brings the schema up to date, each step in a transaction of its own. Fails `conflict` on a newer schema. */
export function migrate(db: Database, file: string, migrations: readonly string[]): void {
  const from = schemaOf(db);
  refuseNewer(from, file, migrations);
  migrations.slice(from).forEach((sql, index) => {
    db.transaction(() => {
      db.run(sql);
      db.run(`pragma user_version = ${from + index + 1}`);
    }).immediate();
  });
}

export function refuseNewer(version: number, file: string, migrations: readonly string[]): void {
  if (version <= migrations.length) return;
  throw new Failure(
    "conflict",
    `database "${file}" has schema ${version} and this berth knows up to ${migrations.length}: run the newer berth, or restore a backup made by this one`,
  );
}
