import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { packBackup, readBackup } from "../base/disk/backup-file.ts";
import { temporaryName } from "../base/disk/atomic-write.ts";
import { type Layout, layoutOf } from "../base/disk/layout.ts";
import { type Restored, restoreInto } from "../base/disk/restore.ts";
import { undoRestore } from "../base/disk/undo-restore.ts";
import type { Log } from "../base/words/log.ts";
import type { Secret } from "../base/words/secret.ts";
import { forgetDeletions, type Hold, prepareRestored, settleDatabase } from "../orchestration/store/copy.ts";
import { prepareRestoredIdentity } from "../identity/store/restored.ts";
import { prepareRestoredObservability } from "../observability/store/restored.ts";
import { takeLock } from "../base/sqlite/lock.ts";

const prepareBeside = { identity: prepareRestoredIdentity, observability: prepareRestoredObservability };

/** Where a backup waits for the running server to take it up: inside the root, for its owner alone. */
export function pendingPath(layout: Layout): string {
  return join(layout.run, "restore.pending");
}

/** Checks the backup whole, opens it with the passphrase, and lays it ready without one. */
export async function layPending(layout: Layout, file: string, passphrase: Secret | undefined): Promise<void> {
  const pending = pendingPath(layout);
  const database = temporaryName(pending);
  const besideInto = { identity: `${database}-identity`, observability: `${database}-observability` };
  try {
    const { key, createdAt, holds } = await readBackup(file, { into: database, besideInto, passphrase });
    prepareRestored(database, key);
    settleDatabase(database);
    for (const name of holds) {
      prepareBeside[name](besideInto[name], key);
      settleDatabase(besideInto[name]);
    }
    const beside = Object.fromEntries(holds.map((name) => [name, besideInto[name]]));
    await packBackup(pending, { database, beside, key, passphrase: undefined, now: createdAt });
  } finally {
    for (const path of [database, ...Object.values(besideInto)]) {
      for (const made of [path, `${path}-wal`, `${path}-shm`]) await rm(made, { force: true });
    }
  }
}

interface Backup {
  file: string;
  passphrase?: Secret | undefined;
  hold?: Hold;
}

/** Puts a backup in the place of the state of a root that no server holds. */
export function restoreNow(layout: Layout, { file, passphrase, hold = "everything" }: Backup): Promise<Restored> {
  return restoreInto({
    layout,
    file,
    passphrase,
    now: Date.now(),
    lock: () => takeLock(layout.lock, layout.root),
    prepare: (database, key) => prepareRestored(database, key, hold),
    prepareBeside,
    settle: settleDatabase,
  });
}

/** Brings back what the last restore replaced, in a root that no server holds. Returns the time of that restore. */
export function undoNow(layout: Layout): Promise<string> {
  return undoRestore({
    layout,
    lock: () => takeLock(layout.lock, layout.root),
    settle: settleDatabase,
    prepare: forgetDeletions,
  });
}

/** Where the wish for an undo waits for the running server. */
export function pendingUndo(layout: Layout): string {
  return join(layout.run, "undo.pending");
}

async function undoPending(layout: Layout, log: Log): Promise<void> {
  try {
    log.info("restore undone", { of: await undoNow(layout) });
  } catch (error) {
    log.error("undo of the restore failed", { error });
  } finally {
    await rm(pendingUndo(layout), { force: true });
  }
}

/** What the server does between two lives: takes up what was laid ready. A failure leaves the state as it was. */
export async function restorePending(root: string, log: Log): Promise<void> {
  const layout = layoutOf(root);
  const pending = pendingPath(layout);
  if (existsSync(pendingUndo(layout))) await undoPending(layout, log);
  if (!existsSync(pending)) return;
  try {
    const restored = await restoreNow(layout, { file: pending });
    log.info("restored", { backup_of: new Date(restored.createdAt).toISOString(), previous: restored.previous });
  } catch (error) {
    log.error("restore failed", { error });
  } finally {
    await rm(pending, { force: true });
  }
}
