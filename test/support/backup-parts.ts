import type { BackupRecords, StoredRun, StoredTarget } from "../../src/backups/service/records.ts";
import type { PauseRecords } from "../../src/backups/service/still.ts";
import type { Dumps, ImageRoom, Platform } from "../../src/backups/service/platform.ts";

/** A server without apps, for tests of what else is copied. */
export const noPlatform: Platform = {
  apps: () => [],
  folderOf: async (volume) => `/volumes/${volume}`,
  isEmpty: async () => false,
  refresh: async () => undefined,
  isNearlySame: async () => false,
  rootOf: async () => "750.70.70",
  writers: async () => [],
  pause: async () => false,
  unpause: async () => undefined,
  shellOf: async () => undefined,
  run: async () => undefined,
};

/** A server without blocks whose plugins back them up. */
export const noDumps: Dumps = {
  dump: async () => undefined,
  restore: async () => undefined,
  find: () => undefined,
  make: async (id) => `/copies/dumps/${id}`,
  remove: async () => undefined,
};

/** A server whose images are all of registries. */
export const noImages: ImageRoom = {
  wanted: () => [],
  sizeOf: async () => undefined,
  stage: async () => ({ folder: "/copies/image-1", freeBytes: Number.MAX_SAFE_INTEGER, close: async () => undefined }),
  save: async () => undefined,
  load: async () => undefined,
};

/** The records of a server without copies of volumes, in memory. `beforeRuns` may refuse to write runs, as a full disk does. */
export function createBackupRecords(beforeRuns: () => void = () => undefined) {
  const targets = new Map<string, StoredTarget>();
  const keys: string[] = [];
  const runs = new Map<string, readonly StoredRun[]>();
  // Writes are durable some time after they were asked for, as those of the store.
  const later = async <T>(change: () => T): Promise<T> => {
    await Promise.resolve();
    return change();
  };
  const records: BackupRecords & PauseRecords = {
    ...{
      volumeRuns: () => [],
      paused: () => [],
      setPaused: async () => undefined,
      closed: () => [],
      changeClosed: async () => undefined,
      copies: () => [],
      putCopies: async () => undefined,
    },
    key: () => keys.at(-1),
    setKey: (text) => later(() => void keys.push(text)),
    targets: () => [...targets.values()],
    putTarget: (target) => later(() => void targets.set(target.name, target)),
    changeTarget: (name, change) =>
      later(() => {
        const stands = targets.get(name);
        const wanted = stands && change(stands);
        if (wanted !== undefined) targets.set(name, wanted);
      }),
    removeTarget: (name) => later(() => void (targets.delete(name) && runs.delete(name))),
    runs: (target) => [...(runs.get(target) ?? [])],
    putRuns: (target, rows) =>
      later(() => {
        beforeRuns();
        if (targets.has(target)) runs.set(target, [...rows]);
      }),
  };
  return { targets, keys, runs, records };
}
