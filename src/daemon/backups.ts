import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createRestic } from "../backups/restic/restic.ts";
import { type Backups, createBackups } from "../backups/service/create.ts";
import type { BackupRecords, StoredRun, StoredTarget } from "../backups/service/records.ts";
import { markBackup } from "../base/disk/backup-mark.ts";
import { liesWithin } from "../base/disk/root.ts";
import { systemClock } from "../base/words/clock.ts";
import { backupLimits } from "../config/backup-limits.ts";
import { stageState } from "../local/stage-state.ts";
import type { Store } from "../orchestration/store/store.ts";
import type { Ground } from "./ground.ts";

/** Copies of the server's state outside of the machine. */
export function createBackupRoom({ layout, store, gate, life, key, log }: Ground): Backups {
  const clock = systemClock;
  const started = randomBytes(8).toString("hex");
  return createBackups({
    records: recordsOf(store),
    restic: createRestic(join(layout.copies, "cache"), backupLimits, () => `berth-${life.stored()?.life ?? started}`),
    installationId: store.installationId,
    ...{ gate, life, clock, log, limits: backupLimits },
    randomBytes: (count) => randomBytes(count),
    isOurs: (folder) => liesWithin(folder, layout.root),
    stage: () => stageState(layout, { key, copyTo: store.copyTo, now: clock.now() }),
    isUnconfirmed: () => store.actionsHeld,
    // The loops that act end with this life of the server, and the next one begins with a closed gate.
    onReplaced: async () => void process.kill(process.pid, "SIGHUP"),
    onCopied: (at) => markBackup(layout, at),
    onEvent: async (event) => void (await store.write((tx) => tx.events.append(event, clock.now()))),
  });
}

export function recordsOf(store: Store): BackupRecords {
  const read = <T>(text: string): T => JSON.parse(text) as T;
  const documentOf = (id: string, value: unknown) => ({
    ...{ id, text: JSON.stringify(value), updatedAt: systemClock.now() },
  });
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
