import { Failure, shownCause } from "../../base/wire/failure.ts";
import { isUnfinished } from "../api/protection.ts";
import type { RestoreBody } from "../api/restore.ts";
import type { VolumeCopy } from "../core/restore-choice.ts";
import { clearNames, openVolumeFolder, textIn, type VolumeFolder, writeText } from "../restic/outbox.ts";
import type { DatabaseVolumes, Fill, Planned, RestoreParts, StoredRestore } from "./restore-parts.ts";

/** What is wanted, of which time, and where it is from. */
type Found = Pick<Planned, "target" | "snapshot" | "at" | "bytes"> & Pick<Fill, "backup" | "until">;

/** Databases that have lost the volumes of all their pods, and what fills them. WAL that is out of reach is reported. */
export async function planDatabases(parts: RestoreParts, body: RestoreBody, chosen: readonly VolumeCopy[]) {
  const planned: Planned[] = [];
  const unreachable: { target: string; why: string }[] = [];
  if (body.way !== undefined || body.volume !== undefined || body.snapshot !== undefined)
    return { planned, unreachable };
  for (const database of parts.volumes.databases()) {
    const { scope, name, claims, backups } = database;
    if (scope !== (body.scope ?? scope) || name !== (body.name ?? name)) continue;
    const there = await Promise.all(claims.map(({ volume }) => parts.volumes.find(volume)));
    const [claim] = claims;
    // Where only a standby has lost its volume, it copies its primary.
    if (claim === undefined) continue;
    if (there.some((one) => one !== undefined) && !(await isUnfilled(parts, database))) continue;
    const until = body.at === undefined ? undefined : Date.parse(body.at);
    const wal = await parts.wal.newest({ scope, name }, { until, target: body.from }).catch((error: unknown) => {
      unreachable.push({ target: `WAL of ${scope}/${name}`, why: shownCause(error) });
      return undefined;
    });
    const mountpoint = (await parts.volumes.find(backups.volume))?.mountpoint;
    const dump = await newestBackup(parts, database, { chosen, until, mountpoint });
    const found = wal !== undefined && wal.at >= (dump?.at ?? 0) ? { ...wal, backup: undefined } : dump;
    if (found === undefined) continue;
    if (!database.isFillable) {
      const text = `the pods of ${scope}/${name} run the scripts of an older berth, which fill no empty volume`;
      throw new Failure("conflict", `${text}: apply its block again (berth apply -f FILE), then try again`);
    }
    const { backup, until: to, ...row } = found;
    planned.push({
      ...row,
      ...{ subject: { scope, kind: "statefulset", name, claim: claim.claim, ordinal: undefined } },
      ...{ way: "missing", volume: claim.volume, labels: claim.labels, mount: undefined, into: undefined },
      ...{ path: undefined, root: undefined, replaces: false, database: { backups, claims, backup, until: to } },
    });
  }
  return { planned, unreachable };
}

/** A fill of it has failed, and its pods wait for another one. */
async function isUnfilled({ volumes, records }: RestoreParts, { claims, backups }: DatabaseVolumes): Promise<boolean> {
  const mountpoint = (await volumes.find(backups.volume))?.mountpoint;
  if (mountpoint === undefined) return false;
  if (records.restores().some((one) => isUnfinished(one) && one.volume === claims[0]?.volume)) return true;
  const home = await openVolumeFolder(mountpoint, ["restore"]);
  return textIn(home, "wanted")
    .then((text) => text !== "")
    .finally(() => home?.close());
}

const backupForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** When a backup was made, by its id. */
const timeOf = (id: string) => Date.parse(id.replace(backupForm, "$1-$2-$3T$4:$5:$6Z"));

/**
 * The newest one that no check has found to be bad, in the volume of all backups or in the copy of it. `mountpoint`: the folder of that
 * volume, where the machine has it.
 */
export async function newestBackup(
  parts: Pick<RestoreParts, "source">,
  { scope, name, backups }: DatabaseVolumes,
  {
    chosen,
    until = Number.POSITIVE_INFINITY,
    mountpoint,
  }: { chosen: readonly VolumeCopy[]; until: number | undefined; mountpoint: string | undefined },
): Promise<Found | undefined> {
  const isOf = ({ subject }: VolumeCopy) =>
    subject.scope === scope && subject.name === name && subject.claim === backups.volume;
  const copy = mountpoint === undefined ? chosen.find(isOf) : undefined;
  const source = copy && (await parts.source(copy.target));
  if (mountpoint === undefined && (copy === undefined || source === undefined)) return undefined;
  const home = mountpoint === undefined ? undefined : await openVolumeFolder(mountpoint, []);
  try {
    const names = (await (source === undefined ? home?.names() : source.names(copy?.id ?? ""))) ?? [];
    const ids = names.filter((id) => backupForm.test(id) && timeOf(id) <= until).sort();
    for (const backup of ids.reverse()) {
      const check =
        source === undefined
          ? await checkIn(mountpoint ?? "", backup)
          : await source.text(copy?.id ?? "", `${backup}/.check`);
      if (check.startsWith("failed ")) continue;
      const bytes = source === undefined ? 0 : await source.size(copy?.id ?? "", backup);
      const from = { target: copy?.target ?? "this machine", snapshot: copy?.id ?? backup };
      return { ...from, at: timeOf(backup), bytes, backup, until: undefined };
    }
    return undefined;
  } finally {
    await home?.close();
  }
}

async function checkIn(mountpoint: string, backup: string): Promise<string> {
  const folder = await openVolumeFolder(mountpoint, [backup]);
  return textIn(folder, ".check").finally(() => folder?.close());
}

/**
 * Fills databases. The pod does it with its own scripts: the server leaves a word of what is wanted in the volume of the backups, makes
 * the empty volumes that the pods wait for, and waits for the word that all of it is there.
 */
export function createFills(
  parts: RestoreParts,
  save: (restore: StoredRestore, change: Partial<StoredRestore>) => Promise<void>,
) {
  const { volumes, clock, log, limits, wal } = parts;

  async function inHome<T>({ backups }: Fill, work: (home: VolumeFolder) => Promise<T>): Promise<T> {
    const mountpoint = (await volumes.find(backups.volume))?.mountpoint;
    const home = mountpoint === undefined ? undefined : await openVolumeFolder(mountpoint, ["restore"], { make: true });
    if (home === undefined) throw new Failure("conflict", `volume "${backups.volume}" is gone, or not on this machine`);
    return work(home).finally(() => home.close());
  }

  const clear = (fill: Fill) => inHome(fill, clearNames);

  async function fetch(restore: StoredRestore, fill: Fill): Promise<void> {
    const { volume, labels } = fill.backups;
    await save(restore, { state: "fetching" });
    if (fill.backup === undefined && (await volumes.find(volume)) === undefined) await volumes.make(volume, labels);
    const mountPoint = (await volumes.find(volume))?.mountpoint;
    if (mountPoint === undefined) throw new Failure("conflict", `volume "${volume}" with the backups is not there`);
    // One that has failed has left them.
    for (const claim of fill.claims) await volumes.stopUsers(claim.volume);
    await clear(fill);
    if (fill.backup === undefined) return wal.fetch(restore.subject, { until: fill.until, mountPoint });
    const backup = await openVolumeFolder(mountPoint, [fill.backup]);
    if (backup === undefined)
      throw new Failure("conflict", `volume "${volume}" does not hold the backup ${fill.backup}`);
    await backup.close();
  }

  /** The word comes first: a pod with an empty volume and no word would make an empty database. */
  async function place(restore: StoredRestore, fill: Fill): Promise<void> {
    await save(restore, { state: "placing" });
    await inHome(fill, async (home) => {
      const names = await home.names();
      if (names.includes("wanted") || names.includes("done")) return;
      await writeText(home, "wanted", fill.backup === undefined ? "cluster\n" : `backup ${fill.backup}\n`);
    });
    for (const { volume, labels } of fill.claims) await volumes.make(volume, labels);
  }

  /** Until the pod has told how it ended. What is not as in the backup is in the answer. */
  async function told(fill: Fill, signal: AbortSignal): Promise<string> {
    const end = clock.now() + limits.fillMs;
    while (clock.now() < end) {
      const [done, failed] = await inHome(fill, async (home) => [
        await textIn(home, "done"),
        await textIn(home, "failed"),
      ]);
      if (done !== "" && done !== undefined) return done.trim();
      if (failed !== "" && failed !== undefined) throw new Failure("conflict", failed.trim());
      await clock.sleep(limits.fillLookMs, signal);
      signal.throwIfAborted();
    }
    throw new Failure("conflict", "the pod has not filled its volume in time; see its log");
  }

  return {
    /**
     * Never rejects. Its pods may start once `placed` was called, and stay as they are where it fails: they find the word that is left,
     * and make no empty database. A server that stops goes on with it at its next start.
     */
    async carryOut(
      restore: StoredRestore,
      fill: Fill,
      { placed, signal }: { placed: () => void; signal: AbortSignal },
    ) {
      let isPlaced = false;
      const start = () => {
        if (!isPlaced) placed();
        isPlaced = true;
      };
      try {
        if (restore.state !== "placing") await fetch(restore, fill);
        await place(restore, fill);
        start();
        const differs = await told(fill, signal);
        const error = differs === "" ? undefined : `restored, but not as in the backup: ${differs}`;
        await save(restore, { state: "done", endedAt: clock.now(), error });
        // Only now: the pod does not say it twice.
        await clear(fill).catch((cause: unknown) => log.warn("word of a restore not removed", { error: cause }));
        log.info("database restored", { restore: restore.id, backup: fill.backup });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Failure)) log.error("restore failed", { restore: restore.id, error });
        const failed = save(restore, { state: "failed", endedAt: clock.now(), error: shownCause(error) });
        await failed.catch((cause: unknown) => log.error("restore not ended", { restore: restore.id, error: cause }));
      } finally {
        start();
      }
    },
  };
}
