import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createRestic } from "../backups/restic/restic.ts";
import type { RestoreRecords, StoredRestore, Volumes } from "../backups/service/restore-plan.ts";
import { createRestores, type Restores } from "../backups/service/restore.ts";
import { type Backups, createBackups } from "../backups/service/create.ts";
import type { BackupRecords, StoredRun, StoredTarget } from "../backups/service/records.ts";
import { markBackup } from "../base/disk/backup-mark.ts";
import { folders } from "../backups/restic/folders.ts";
import { liesWithin } from "../base/disk/root.ts";
import { systemClock } from "../base/words/clock.ts";
import { createLimit } from "../base/words/limit.ts";
import { backupLimits } from "../config/backup-limits.ts";
import { stageState } from "../local/stage-state.ts";
import type { Store } from "../orchestration/store/store.ts";
import type { Ground } from "./ground.ts";

/** Copies outside of the machine, and what brings their data back. */
export function createBackupRoom(
  { layout, store, gate, life, key, log }: Ground,
  volumes: Volumes,
): { backups: Backups; restores: Restores } {
  const records = recordsOf(store);
  const started = randomBytes(8).toString("hex");
  const restic = createRestic(
    join(layout.copies, "cache"),
    backupLimits,
    () => `berth-${life.stored()?.life ?? started}`,
  );
  const shared = {
    ...{ clock: systemClock, log, limits: backupLimits, turn: createLimit(1) },
    randomBytes: (count: number) => randomBytes(count),
    isOurs: (folder: string) => liesWithin(folder, layout.root),
    onEvent: async (event: { actor: string; action: string; detail: Record<string, string> }) =>
      void (await store.write((tx) => tx.events.append(event, systemClock.now()))),
  };
  const backups = createBackups({
    ...{ ...shared, records, restic, gate, life, installationId: store.installationId },
    stage: () => stageState(layout, { key, copyTo: store.copyTo, now: systemClock.now() }),
    isUnconfirmed: () => store.actionsHeld,
    // The loops that act end with this life of the server, and the next one begins with a closed gate.
    onReplaced: async () => void process.kill(process.pid, "SIGHUP"),
    onCopied: (at) => markBackup(layout, at),
  });
  const restores = createRestores({
    ...{ ...shared, records: restoreRecordsOf(store), volumes, folders },
    targets: () => records.targets().map(({ name }) => name),
    source: backups.repository,
  });
  return { backups, restores };
}

const read = <T>(text: string): T => JSON.parse(text) as T;
const documentOf = (id: string, value: unknown) => ({
  ...{ id, text: JSON.stringify(value), updatedAt: systemClock.now() },
});

function restoreRecordsOf(store: Store): RestoreRecords {
  return {
    restores: () => store.backups.list("restore").map(({ text }) => read<StoredRestore>(text)),
    putRestore: (restore) => store.write((tx) => tx.backups.put("restore", documentOf(restore.id, restore))),
    removeRestore: (id) => store.write((tx) => tx.backups.remove("restore", id)),
  };
}

export function recordsOf(store: Store): BackupRecords {
  return {
    key() {
      const found = store.backups.get("key", "1");
      return found && read<string>(found.text);
    },
    setKey: (text) => store.write((tx) => tx.backups.put("key", documentOf("1", text))),
    targets: () => store.backups.list("target").map(({ text }) => read<StoredTarget>(text)),
    putTarget: (target) => store.write((tx) => tx.backups.put("target", documentOf(target.name, target))),
    changeTarget: (name, change) =>
      store.write((tx) => {
        const stands = tx.backups.get("target", name);
        if (stands === undefined) return;
        tx.backups.put("target", documentOf(name, change(read<StoredTarget>(stands.text))));
      }),
    removeTarget: (name) =>
      store.write((tx) => {
        tx.backups.remove("target", name);
        tx.backups.remove("runs", name);
      }),
    runs(target) {
      const found = store.backups.get("runs", target);
      return found === undefined ? [] : read<StoredRun[]>(found.text);
    },
    putRuns: (target, runs) =>
      store.write((tx) => {
        if (tx.backups.get("target", target) !== undefined) tx.backups.put("runs", documentOf(target, runs));
      }),
  };
}
