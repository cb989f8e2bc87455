import type { Secret } from "../../base/words/secret.ts";
import { checkContent, copyInto, withDatabase } from "../../base/sqlite/database.ts";
import { refuseNewer, schemaOf } from "../../base/sqlite/migrate.ts";
import { bindKey, createMeta } from "../../base/sqlite/meta.ts";
import { stateMigrations } from "./migrations/all.ts";
import { createSeal } from "../../base/sqlite/seal.ts";
import { highestVersion } from "./versions.ts";

/**
 * Copies the database at `from` to the new file `target`, whether or not a server is writing to it. Fails
 * `unavailable` when it is missing or damaged.
 */
export function copyDatabase(from: string, target: string): void {
  withDatabase(from, (db) => {
    checkContent(db, from);
    copyInto(db, target);
  });
}

/**
 * What waits for `berth restore --confirm`: the removal of what the state does not know, or everything that acts. A server
 * that goes back to its own state of a moment ago goes on with its work.
 */
export type Hold = "removal" | "everything";

/** As the database has it. Earlier versions wrote "restored", and held the removal. */
const holds = { removal: "restored", everything: "copy" } as const;

/** Whether the value of `collection_held` holds everything that acts. */
export function holdsEverything(value: string | undefined): boolean {
  return value === holds.everything;
}

/**
 * Makes a database from a backup fit to be put in place: checks that it is sound, of a schema we know, and opened by
 * `key`, then holds what the server does by itself. A delete that was under way is not repeated: the app may have been applied
 * again since, and its volumes hold data that was not to be wiped. Revisions continue far above the old ones, so that no number is seen twice.
 */
export function prepareRestored(file: string, key: Secret<Uint8Array>, hold: Hold = "everything"): void {
  withDatabase(file, (db) => {
    checkContent(db, file);
    refuseNewer(schemaOf(db), file, stateMigrations);
    const meta = createMeta(db);
    bindKey(meta, createSeal(key), file);
    meta.put("collection_held", holds[hold]);
    meta.remove(restoredCopy);
    db.run("delete from deletions");
    db.run("update counter set revision = ?", [highestVersion(db) + revisionsSkipped]);
  });
}

/** Makes the database that a restore replaced fit to come back: a delete that was under way is not repeated then either. */
export function forgetDeletions(file: string): void {
  withDatabase(file, (db) => db.run("delete from deletions"));
}

/**
 * What operators and their programs have done since `at` (epoch milliseconds), by action, the most frequent first: what
 * a restore of a copy of that time loses.
 */
export function changesSince(file: string, at: number): { action: string; count: number }[] {
  return withDatabase(file, (db) =>
    db
      .query<{ action: string; count: number }, [number]>(
        `select action, count(*) as count from events
         where at > ? and actor <> 'reconciler' and action not like 'pod.%' and action not like 'run.%'
         group by action order by count desc, action`,
      )
      .all(at),
  );
}

/** Holds everything that acts until `confirmRestore`: what moved here is to be seen running first. */
export function holdActions(file: string): void {
  withDatabase(file, (db) => createMeta(db).put("collection_held", holds.everything));
}

const restoredCopy = "restored_copy";

/** Notes which copy at a target a restored state is. */
export function noteCopy(file: string, id: string): void {
  withDatabase(file, (db) => createMeta(db).put(restoredCopy, id));
}

/** The copy that a state is, as long as its restore waits for `confirmRestore`. */
export function notedCopy(file: string): string | undefined {
  return withDatabase(file, (db) => createMeta(db).get(restoredCopy));
}

/** Ends the hold of a restore: orphans are collected again. A running server sees it at once. False when there was none. */
export function confirmRestore(file: string): boolean {
  return withDatabase(file, (db) => {
    const meta = createMeta(db);
    const held = meta.get("collection_held") !== undefined;
    meta.remove("collection_held");
    meta.remove(restoredCopy);
    return held;
  });
}

/** Writes the log into the database file itself, so that the file alone is the whole database. */
export function settleDatabase(file: string): void {
  withDatabase(file, (db) => db.run("pragma wal_checkpoint(truncate)"));
}

/** More than a server writes between a backup and the restore of it. */
const revisionsSkipped = 1_000_000;
