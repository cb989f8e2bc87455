import { link, open, rm } from "node:fs/promises";
import type { Secret } from "../lib/secret.ts";
import { moveInPlace, temporaryName, writeAtomic } from "./atomic-write.ts";
import { readBackup } from "./backup-file.ts";
import { codeOf, diskFailure } from "./disk-failure.ts";
import { encodeKey, type Key, readKey } from "./key-file.ts";
import type { Layout } from "./layout.ts";
import { makeFolders } from "./root.ts";

export interface RestoreOptions {
  layout: Layout;
  /** The backup. */
  file: string;
  passphrase: Secret | undefined;
  /** Epoch milliseconds: part of the names of what is kept. */
  now: number;
  /** Makes us the only writer of the root (`takeLock`), or fails naming the server that is. Returns the release. */
  lock: () => () => void;
  /** Checks the restored database against its key and holds collection in it (`prepareRestored`). */
  prepare: (database: string, key: Key) => void;
  /** Writes the log of the present database into it (`settleDatabase`). */
  settle: (database: string) => void;
}

export interface Restored {
  /** When the backup was made, epoch milliseconds. */
  createdAt: number;
  /** Where the database that was there before is kept. */
  previous: string | undefined;
}

/**
 * Puts the state of a backup in the place of what the root holds. Everything is checked before anything is touched;
 * what was there stays beside it as `state.db.before-restore-<time>` (and `key.before-restore-<time>` when the key is
 * another one). A crash in between leaves a database that refuses to open with the other key, and the restore can be
 * run again.
 */
export async function restoreInto(options: RestoreOptions): Promise<Restored> {
  const { layout, now, file, passphrase } = options;
  await makeFolders(layout);
  const unlock = options.lock();
  const fresh = temporaryName(layout.database);
  try {
    const { key, createdAt } = await readBackup(file, { into: fresh, passphrase });
    options.prepare(fresh, key);
    await syncFile(fresh);
    const suffix = `before-restore-${new Date(now).toISOString().replaceAll(":", "-")}`;
    const previous = await keepDatabase(options, suffix);
    await replaceKey(layout.key, key, suffix);
    await moveInPlace(fresh, layout.database);
    return { createdAt, previous };
  } catch (error) {
    throw diskFailure(error, layout.database);
  } finally {
    for (const path of [fresh, `${fresh}-wal`, `${fresh}-shm`]) await rm(path, { force: true });
    unlock();
  }
}

/** A second name for the present database, which stays in place; its log must not meet the restored one. */
async function keepDatabase({ layout, settle }: RestoreOptions, suffix: string): Promise<string | undefined> {
  const kept = `${layout.database}.${suffix}`;
  if (!(await keep(layout.database, kept))) return undefined;
  await keep(`${layout.database}-wal`, `${kept}-wal`);
  try {
    settle(layout.database);
    await rm(`${kept}-wal`, { force: true });
  } catch {
    // Damaged, which may be why it is replaced: it is kept as it is, log and all.
  }
  for (const log of ["-wal", "-shm"]) await rm(`${layout.database}${log}`, { force: true });
  return kept;
}

async function replaceKey(path: string, key: Key, suffix: string): Promise<void> {
  const present = await presentKey(path);
  const content = encodeKey(key.reveal());
  if (present && encodeKey(present.reveal()) === content) return;
  await keep(path, `${path}.${suffix}`);
  await writeAtomic(path, content, 0o600);
}

/** Undefined for a file that holds no key: it is replaced like a missing one. */
async function presentKey(path: string): Promise<Key | undefined> {
  try {
    return await readKey(path);
  } catch {
    return undefined;
  }
}

/** False when there is nothing to keep. */
async function keep(path: string, as: string): Promise<boolean> {
  try {
    await link(path, as);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
