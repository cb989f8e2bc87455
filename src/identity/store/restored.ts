import type { Secret } from "../../base/words/secret.ts";
import { checkContent, withDatabase } from "../../base/sqlite/database.ts";
import { bindKey, createMeta } from "../../base/sqlite/meta.ts";
import { refuseNewer, schemaOf } from "../../base/sqlite/migrate.ts";
import { createSeal } from "../../base/sqlite/seal.ts";
import { identityMigrations } from "./open-store.ts";

/** Users that have signed up since `at`, epoch milliseconds. */
export function usersSince(file: string, at: number): number {
  return withDatabase(
    file,
    (db) =>
      db.query<{ count: number }, [number]>("select count(*) as count from users where created_at > ?").get(at)
        ?.count ?? 0,
  );
}

/** Makes a database from a backup fit to be put in place: it is sound, of a schema we know, and opened by `key`. */
export function prepareRestoredIdentity(file: string, key: Secret<Uint8Array>): void {
  withDatabase(file, (db) => {
    checkContent(db, file);
    refuseNewer(schemaOf(db), file, identityMigrations);
    bindKey(createMeta(db), createSeal(key), file);
  });
}
