import type { Secret } from "../../lib/secret.ts";
import { checkContent, withDatabase } from "../database.ts";
import { bindKey, createMeta } from "../meta.ts";
import { refuseNewer, schemaOf } from "../migrate.ts";
import { createSeal } from "../seal.ts";
import { identityMigrations } from "./open-store.ts";

/** Makes a database from a backup fit to be put in place: it is sound, of a schema we know, and opened by `key`. */
export function prepareRestoredIdentity(file: string, key: Secret<Uint8Array>): void {
  withDatabase(file, (db) => {
    checkContent(db, file);
    refuseNewer(schemaOf(db), file, identityMigrations);
    bindKey(createMeta(db), createSeal(key), file);
  });
}
