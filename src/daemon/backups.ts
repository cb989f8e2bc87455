import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createCopyGroup } from "../backups/restic/copy-group.ts";
import { createRestic } from "../backups/restic/restic.ts";
import type { RestoreRecords, StoredRestore, WalRoom } from "../backups/service/restore-parts.ts";
import { drillId, drillTimings, type StoredDrill } from "../backups/core/drills.ts";
import { createDrills, type Drills } from "../backups/service/drills.ts";
import type { DrillParts } from "../backups/service/drill-parts.ts";
import { createRehearsals, type Rehearsals } from "../backups/service/rehearsals.ts";
import { createTrials } from "../backups/service/trials.ts";
import { createRestores, type Restores } from "../backups/service/restore.ts";
import { type Backups, createBackups } from "../backups/service/create.ts";
import {
  type BackupRecords,
  runsId,
  type StoredCopy,
  type StoredRun,
  type StoredTarget,
} from "../backups/service/records.ts";
import type { ClosedApp, PauseRecords } from "../backups/service/still.ts";
import { whatOf } from "../backups/core/subject.ts";
import { markBackup } from "../base/disk/backup-mark.ts";
import { folders } from "../backups/restic/folders.ts";
import { liesWithin } from "../base/disk/root.ts";
import { systemClock } from "../base/words/clock.ts";
import { ApiError } from "../base/wire/client.ts";
import { Failure } from "../base/wire/failure.ts";
import { createLimit, createRounds } from "../base/words/limit.ts";
import { availableMemoryBytes } from "../base/machine/memory.ts";
import type { Caller, DrillRoom } from "../orchestration/controller/rollout/drill-room.ts";
import { theServer } from "../access/principal.ts";
import { dispatchPlugin } from "../orchestration/api/dispatch.ts";
import type { Outside } from "../orchestration/controller/state/context.ts";
import { backupLimits } from "../config/backup-limits.ts";
import { logsDigest, stageLogs } from "../local/stored-logs.ts";
import { createStateDigest } from "../local/state-digest.ts";
import { repositoriesDigest, stageRepositories } from "../local/push/stage.ts";
import { createImageRoom, stageState } from "../local/staging.ts";
import type { Store } from "../orchestration/store/store.ts";
import type { openEngine } from "./engine.ts";
import { createBackupPlatform, withDatabases } from "./backup-platform.ts";
import { createDumps } from "../local/dumps.ts";
import type { Ground, Late } from "./ground.ts";
import { ownProgram } from "./plugins.ts";
import { serverHost } from "../backups/service/locks.ts";
import type { ContainerRef, ServerPart } from "../backups/service/platform.ts";
import type { VolumeRoom } from "../orchestration/controller/rollout/volume-room.ts";

interface Given {
  volumes: VolumeRoom;
  drills: DrillRoom;
  network: Awaited<ReturnType<typeof openEngine>>;
  wal: WalRoom;
}

/** Copies of the server's state and of the volumes of apps outside of the machine, and what brings their data back. */
export function createBackupRoom(
  { layout, store, gate, life, key, names, log }: Ground,
  { volumes, drills: stage, network, wal }: Given,
): { backups: Backups; restores: Restores; drills: Drills; rehearsals: Rehearsals<Caller> } {
  const records = recordsOf(store);
  const knownCopies = () => Object.fromEntries(records.targets().map(({ name, url }) => [url, records.copies(name)]));
  const started = randomBytes(8).toString("hex");
  const host = () => serverHost(life.stored()?.life ?? started);
  const group = createCopyGroup(backupLimits, log);
  const restic = createRestic(join(layout.copies, "cache"), backupLimits, host, group);
  const shared = {
    ...{ clock: systemClock, log, limits: backupLimits, turn: createLimit(1), reading: createLimit(1) },
    randomBytes: (count: number) => randomBytes(count),
    isOurs: (folder: string) => liesWithin(folder, layout.root),
    onEvent: async (event: { actor: string; action: string; detail: Record<string, string> }) =>
      void (await store.write((tx) => tx.events.append(event, systemClock.now()))),
  };
  const dumps = createDumps({ engine: network.engine, volumes, folder: join(layout.copies, "dumps") });
  const platform = createBackupPlatform({ ...network, volumes });
  const backups = createBackups({
    ...{ ...shared, records, restic, gate, life, installationId: store.installationId, platform, dumps },
    images: createImageRoom({ engine: network.engine, store, folder: layout.copies }),
    parts: serverParts(layout),
    stage: () => stageState(layout, { key, copyTo: store.copyTo, now: systemClock.now(), copies: knownCopies() }),
    stateDigest: createStateDigest(layout),
    isUnconfirmed: () => store.actionsHeld,
    // The loops that act end with this life of the server, and the next one begins with a closed gate.
    onReplaced: async () => void process.kill(process.pid, "SIGHUP"),
    onCopied: (at) => markBackup(layout, at),
  });
  const from = { targets: () => records.targets().map(({ name }) => name), source: backups.repository };
  const held = withDatabases(volumes, { names, store });
  const restores = createRestores({
    ...{ ...shared, ...from, records: restoreRecordsOf(store), wal, dumps, folders, volumes: held },
  });
  const tried: DrillParts = {
    ...{ ...shared, ...from, folders, stage, gate, wal, databases: held.databases },
    drills: () => drillsOf(store),
    putDrill: (drill) => store.write((tx) => tx.backups.put("drill", documentOf(drillId(drill), drill))),
    removeDrill: (drill) => store.write((tx) => tx.backups.remove("drill", drillId(drill))),
    ...{ apps: platform.apps, volumesFolder: volumes.folder, freeMemory: availableMemoryBytes },
  };
  const trials = createTrials(tried);
  const drills = createDrills(tried, trials);
  const rehearsals = createRehearsals({ ...tried, plan: stage.rehearse }, trials);
  return { backups, restores, drills, rehearsals };
}

/**
 * A copy of a database before its image changes: to its targets, or, without any, by its plugin on this machine. Requests that
 * come while one is made share the next: those of one app cannot fill the turns of all others.
 */
export function copyBefore(late: Late): NonNullable<Outside["copyBefore"]> {
  const round = createRounds(async (asked) => {
    const { app, plugin } = read<{ app: string; plugin?: string }>(asked);
    const { backups, ask } = late;
    const isCopied =
      backups?.listTargets().length !== 0 &&
      backups?.listApps().some((one) => `${one.scope}/${one.name}` === app && one.every !== undefined) === true;
    if (isCopied) return backups.copyNow(app);
    if (plugin === undefined) return;
    const input = { params: { name: plugin, command: "backup" }, body: { args: [app] } };
    await ask?.("server", theServer)
      .call(dispatchPlugin, input)
      .catch((error: unknown) => {
        throw error instanceof ApiError ? new Failure("conflict", error.message) : error;
      });
  });
  return ({ scope, name, plugin }) => round(JSON.stringify({ app: `${scope}/${name}`, plugin }));
}

/** What is in the root beside the databases of the state. */
function serverParts(layout: Ground["layout"]): ServerPart[] {
  return [
    {
      name: "repositories",
      isTaken: () => true,
      ...{ everyMs: ({ everyMs }) => everyMs, keep: ({ keep }) => keep },
      digest: () => repositoriesDigest(layout),
      stage: () => stageRepositories(layout),
    },
    {
      name: "logs",
      isTaken: ({ logs }) => logs === true,
      ...{ everyMs: () => backupLimits.logsEveryMs, keep: () => backupLimits.logsKeep },
      digest: () => logsDigest(layout),
      stage: () => stageLogs(layout, ownProgram()),
    },
  ];
}

const read = <T>(text: string): T => JSON.parse(text) as T;
const documentOf = (id: string, value: unknown) => ({
  ...{ id, text: JSON.stringify(value), updatedAt: systemClock.now() },
});

const drillsOf = (store: Store) => store.backups.list("drill").map(({ text }) => read<StoredDrill>(text));

function restoreRecordsOf(store: Store): RestoreRecords {
  return {
    restores: () => store.backups.list("restore").map(({ text }) => read<StoredRestore>(text)),
    putRestore: (restore) => store.write((tx) => tx.backups.put("restore", documentOf(restore.id, restore))),
    removeRestore: (id) => store.write((tx) => tx.backups.remove("restore", id)),
    drills: () => drillsOf(store).flatMap(drillTimings),
  };
}

/** What one document lists; nothing where it is not there. */
function rowsOf<T>(store: Store, kind: "runs" | "copies" | "paused", id: string): T[] {
  const found = store.backups.get(kind, id);
  return found === undefined ? [] : read<T[]>(found.text);
}

export function recordsOf(store: Store): BackupRecords & PauseRecords {
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
        tx.backups.remove("copies", name);
        for (const { id } of tx.backups.list("runs")) if (isOf(name, id)) tx.backups.remove("runs", id);
      }),
    runs: (id) => rowsOf<StoredRun>(store, "runs", id),
    volumeRuns: (target) =>
      store.backups.list("runs").flatMap(({ id, text }) => {
        const what = id.slice(target.length + 1);
        return isOf(target, id) && what !== "" ? [{ what, runs: read<StoredRun[]>(text) }] : [];
      }),
    putRuns: (target, runs, what) =>
      store.write((tx) => {
        if (tx.backups.get("target", target) === undefined) return;
        const id = runsId(target, what);
        if (runs.length === 0) tx.backups.remove("runs", id);
        else tx.backups.put("runs", documentOf(id, runs));
      }),
    copies: (target) => rowsOf<StoredCopy>(store, "copies", target),
    putCopies: (target, copies) => store.write((tx) => tx.backups.put("copies", documentOf(target, copies))),
    paused: () => rowsOf<ContainerRef>(store, "paused", "1"),
    setPaused: (containers) => store.write((tx) => tx.backups.put("paused", documentOf("1", containers))),
    closed: () => store.backups.list("paused").flatMap(({ id, text }) => (id === "1" ? [] : [read<ClosedApp>(text)])),
    changeClosed: (volume, post) =>
      store.write((tx) => {
        const id = `closed ${whatOf(volume.subject)}`;
        if (post === undefined) tx.backups.remove("paused", id);
        else tx.backups.put("paused", documentOf(id, { volume, post }));
      }),
  };
}

/** Whether runs are of a target; see `runsId`. */
const isOf = (target: string, id: string) => id === target || id.startsWith(`${target} `);
