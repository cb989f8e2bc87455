import { link, open, rm } from "node:fs/promises";
import type { Secret } from "../words/secret.ts";
import { moveInPlace, temporaryName, writeAtomic } from "./atomic-write.ts";
import { readBackup } from "./backup-file.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";
import { encodeKey, type Key, readKey } from "./key-file.ts";
import { type Beside, besideDatabases, besides, type Layout } from "./layout.ts";
import { makeFolders } from "./root.ts";

interface RestoreOptions {
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
  /** Checks the restored databases beside it against their key. */
  prepareBeside: Record<Beside, (database: string, key: Key) => void>;
  /** Writes the log of the present database into it (`settleDatabase`). */
  settle: (database: string) => void;
}

export interface Restored {
  /** When the backup was made, epoch milliseconds. */
  createdAt: number;
  /** Where the database that was there before is kept. */
  previous: string | undefined;
  /** Like `previous`, for those beside it, where they were replaced or set aside. */
  previousBeside: Partial<Record<Beside, string>>;
}

/**
 * Puts the state of a backup in the place of what the root holds. Everything is checked before anything is touched;
 * what was there stays beside it as `state.db.before-restore-<time>` (and `key.before-restore-<time>` when the key is
 * another one); so do the databases beside it. A backup that holds one of them not leaves it alone, unless it has another
 * key: then it is set aside, for nothing could open it any more. A crash in between leaves a database
 * that refuses to open with the other key, and the restore can be run again.
 */
export async function restoreInto(options: RestoreOptions): Promise<Restored> {
  const { layout, now, file, passphrase } = options;
  await makeFolders(layout);
  const unlock = options.lock();
  const fresh = temporaryName(layout.database);
  const besideInto: Record<Beside, string> = {
    identity: `${fresh}-identity`,
    observability: `${fresh}-observability`,
  };
  try {
    const { key, createdAt, holds } = await readBackup(file, { into: fresh, besideInto, passphrase });
    options.prepare(fresh, key);
    await syncFile(fresh);
    for (const name of holds) {
      options.prepareBeside[name](besideInto[name], key);
      await syncFile(besideInto[name]);
    }
    const suffix = `before-restore-${new Date(now).toISOString().replaceAll(":", "-")}`;
    const present = besideDatabases(layout);
    const isOtherKey = !(await isPresentKey(layout.key, key));
    const replaced = besides.filter((name) => holds.includes(name) || isOtherKey);
    const previousBeside: Partial<Record<Beside, string>> = {};
    for (const name of replaced) {
      const kept = await keepDatabase(options, present[name], suffix);
      if (kept !== undefined) previousBeside[name] = kept;
    }
    const previous = await keepDatabase(options, layout.database, suffix);
    await replaceKey(layout.key, key, suffix);
    for (const name of replaced) {
      if (holds.includes(name)) await moveInPlace(besideInto[name], present[name]);
      else await removeBeside(name, layout);
    }
    await moveInPlace(fresh, layout.database);
    return { createdAt, previous, previousBeside };
  } catch (error) {
    throw diskFailure(error, layout.database);
  } finally {
    for (const path of [fresh, ...Object.values(besideInto)]) await removeDatabase(path);
    unlock();
  }
}

/** The index of users first: one without its database stands for a loss. */
async function removeBeside(name: Beside, layout: Layout): Promise<void> {
  if (name === "identity") await removeDatabase(layout.identityIndex);
  await rm(besideDatabases(layout)[name], { force: true });
}

async function removeDatabase(path: string): Promise<void> {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) await rm(file, { force: true });
}

/** A second name for the present database, which stays in place; its log must not meet the restored one. */
async function keepDatabase({ settle }: RestoreOptions, database: string, suffix: string): Promise<string | undefined> {
  const kept = `${database}.${suffix}`;
  if (!(await keep(database, kept))) return undefined;
  await keep(`${database}-wal`, `${kept}-wal`);
  try {
    settle(database);
    await rm(`${kept}-wal`, { force: true });
  } catch {
    // Damaged, which may be why it is replaced: it is kept as it is, log and all.
  }
  for (const log of ["-wal", "-shm"]) await rm(`${database}${log}`, { force: true });
  return kept;
}

async function replaceKey(path: string, key: Key, suffix: string): Promise<void> {
  if (await isPresentKey(path, key)) return;
  await keep(path, `${path}.${suffix}`);
  await writeAtomic(path, encodeKey(key.reveal()), 0o600);
}

async function isPresentKey(path: string, key: Key): Promise<boolean> {
  const present = await presentKey(path);
  return present !== undefined && encodeKey(present.reveal()) === encodeKey(key.reveal());
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
