import { checkContent, withDatabase } from "../../base/sqlite/database.ts";
import { bindKey, createMeta } from "../../base/sqlite/meta.ts";
import { refuseNewer, schemaOf } from "../../base/sqlite/migrate.ts";
import { createSeal } from "../../base/sqlite/seal.ts";
import type { Secret } from "../../base/words/secret.ts";
import { observabilityMigrations } from "./migrations/all.ts";

/** Makes a database from a backup fit to be put in place: it is sound, of a schema we know, and opened by `key`. */
export function prepareRestoredObservability(file: string, key: Secret<Uint8Array>): void {
  withDatabase(file, (db) => {
    checkContent(db, file);
    refuseNewer(schemaOf(db), file, observabilityMigrations);
    bindKey(createMeta(db), createSeal(key), file);
  });
}
