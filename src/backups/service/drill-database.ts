import { Failure } from "../../base/wire/failure.ts";
import type { VolumeCopy } from "../core/restore-choice.ts";
import { clearNames, openVolumeFolder, textIn, writeText } from "../restic/outbox.ts";
import { newestBackup } from "./restore-database.ts";
import type { DatabaseVolumes, RestoreParts } from "./restore-parts.ts";

/** What a copy of a database is made from: as a restore chooses it where the machine has lost everything. */
export interface DrillFill {
  scope: string;
  name: string;
  /** The volume of all backups, by its engine name. */
  backups: string;
  /** The backup; undefined: base backup and WAL. */
  backup: string | undefined;
  target: string;
  at: number;
  /** Packed. */
  bytes: number;
}

/** Unpacked data beside what it is unpacked from. */
export const unpackedTimes = 4;

/** The newest of backups and WAL at the targets; undefined where there is none. `chosen`: the newest copy of each volume. */
export async function fillOf(
  parts: Pick<RestoreParts, "source" | "wal">,
  database: DatabaseVolumes,
  chosen: readonly VolumeCopy[],
): Promise<DrillFill | undefined> {
  const { scope, name, backups } = database;
  const wal = database.hasWal
    ? await parts.wal.newest({ scope, name }, { until: undefined, target: undefined })
    : undefined;
  const dump = await newestBackup(parts, database, { chosen, until: undefined, mountpoint: undefined });
  const found = wal !== undefined && wal.at >= (dump?.at ?? 0) ? { ...wal, backup: undefined } : dump;
  if (found === undefined) return undefined;
  const { backup, target, at, bytes } = found;
  return { scope, name, backups: backups.volume, backup, target, at, bytes };
}

const homeOf = async (folder: string) => {
  const home = await openVolumeFolder(folder, ["restore"], { make: true });
  if (home === undefined) throw new Failure("conflict", "the volume of the drill is gone");
  return home;
};

/** Leaves the word by which the pod fills its empty volume: see plugins/kit/restore.sh. */
export async function leaveWord(
  { wal }: Pick<RestoreParts, "wal">,
  { scope, name, backup }: DrillFill,
  folder: string,
): Promise<void> {
  const word = backup === undefined ? "cluster\n" : `backup ${backup}\n`;
  if (backup === undefined) await wal.fetch({ scope, name }, { until: undefined, mountPoint: folder, isDrill: true });
  const home = await homeOf(folder);
  try {
    if (backup !== undefined) await clearNames(home);
    await writeText(home, "wanted", word);
  } finally {
    await home.close();
  }
}

/** What the pod says about it: why it failed, or what is not as in the backup; empty where all is well, or it says nothing. */
export async function toldOf(folder: string | undefined): Promise<string> {
  if (folder === undefined) return "";
  const home = await homeOf(folder);
  try {
    const differs = (await textIn(home, "done")).trim();
    if (differs !== "") return `restored, but not as in the backup: ${differs}`;
    return (await textIn(home, "failed")).trim();
  } finally {
    await home.close();
  }
}
