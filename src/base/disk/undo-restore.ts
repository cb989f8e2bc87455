import { existsSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { basename } from "node:path";
import { Failure } from "../wire/failure.ts";
import { syncFolder } from "./atomic-write.ts";
import { diskFailure } from "../wire/disk-failure.ts";
import { besideDatabases, besides, type Layout } from "./layout.ts";

interface UndoOptions {
  layout: Layout;
  /** See `RestoreOptions`. */
  lock: () => () => void;
  settle: (database: string) => void;
  /** Makes the database that the restore replaced fit to come back. */
  prepare: (database: string) => void;
}

const mark = ".before-restore-";

/** When the last restore put something else in the place of the state, as its files say it; undefined without one. */
export async function lastRestore({ root, database }: Layout): Promise<string | undefined> {
  const begin = `${basename(database)}${mark}`;
  const found = await readdir(root).catch(() => []);
  const times = found.filter((name) => name.startsWith(begin) && !/-(?:wal|shm)$/.test(name));
  return times.sort().at(-1)?.slice(begin.length);
}

/**
 * Brings back what the last restore replaced: databases and key. What is there now stays beside it as
 * `state.db.before-undo-<time of the restore>`. The database of the state goes last: a crash before that leaves the files of the restore in
 * place, and the undo can be run again. Fails `not_found` when nothing was replaced.
 */
export async function undoRestore({ layout, lock, settle, prepare }: UndoOptions): Promise<string> {
  const at = await lastRestore(layout);
  if (at === undefined) {
    throw new Failure("not_found", `nothing to undo: no ${basename(layout.database)}${mark}… in "${layout.root}"`);
  }
  const unlock = lock();
  try {
    const beside = besideDatabases(layout);
    const kept = `${layout.database}${mark}${at}`;
    if (existsSync(kept)) prepare(kept);
    const isOtherKey = existsSync(`${layout.key}${mark}${at}`);
    // Named after the restore: an undo that is run again after a crash sees what it has done.
    const aside = `.before-undo-${at}`;
    for (const name of besides) {
      const isKept = existsSync(`${beside[name]}${mark}${at}`);
      // One of the other key is of the restored state: nothing could open it.
      if (isKept || isOtherKey) await swap(beside[name], { from: `${mark}${at}`, aside, settle });
      // Made again from the users.
      if (name === "identity" && (isKept || isOtherKey)) await removeDatabase(layout.identityIndex);
    }
    if (isOtherKey) await swap(layout.key, { from: `${mark}${at}`, aside, settle: () => undefined });
    await swap(layout.database, { from: `${mark}${at}`, aside, settle });
    await syncFolder(layout.root);
    return at;
  } catch (error) {
    throw diskFailure(error, layout.database);
  } finally {
    unlock();
  }
}

interface Swap {
  from: string;
  aside: string;
  settle: (database: string) => void;
}

/** Sets the file aside, and puts the kept one in its place, each with the log that belongs to it. */
async function swap(path: string, { from, aside, settle }: Swap): Promise<void> {
  const isAside = existsSync(`${path}${aside}`);
  const isThere = existsSync(path) && !isAside;
  try {
    if (isThere) settle(path);
  } catch {
    // Damaged, which may be why it is undone: it is set aside as it is, log and all.
  }
  for (const part of ["-wal", ""]) {
    if (!isAside && existsSync(`${path}${part}`)) await rename(`${path}${part}`, `${path}${aside}${part}`);
    if (existsSync(`${path}${from}${part}`)) await rename(`${path}${from}${part}`, `${path}${part}`);
  }
  await rm(`${path}-shm`, { force: true });
}

async function removeDatabase(path: string): Promise<void> {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) await rm(file, { force: true });
}
