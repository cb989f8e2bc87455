import type { DataOf } from "../../base/wire/endpoint.ts";
import type { AppBackup, BackupRun, BackupTarget, runBackup } from "./backups.ts";
import type { Restore } from "./restore.ts";

/** How the copies of an app are: the worst first. */
export const protectionWords = ["failing", "no target", "not protected", "no copy yet", "protected"] as const;
export type Protection = (typeof protectionWords)[number];

export function protectionOf({ every, volumes }: Pick<AppBackup, "every" | "volumes">): Protection {
  const copies = volumes.flatMap((volume) => volume.copies);
  if (every === undefined) return "not protected";
  if (copies.some(({ error }) => error !== undefined)) return "failing";
  if (volumes.length > 0 && copies.length === 0) return "no target";
  return copies.length === 0 || copies.some(({ at }) => at === undefined) ? "no copy yet" : "protected";
}

/** Whether the newest copy of something did not reach a target. */
export const copiesFail = ({ last_error: error, volume_errors: errors = [] }: BackupTarget): boolean =>
  error !== undefined || errors.length > 0;

/** The same, or its last check found that it has lost data. */
export const isTargetFailing = (target: BackupTarget): boolean =>
  copiesFail(target) || target.check_error !== undefined;

/** The runs of copies that were begun; undefined until all of them have ended. */
export function endedRuns(
  { since, copies }: DataOf<typeof runBackup>,
  runs: readonly BackupRun[],
): BackupRun[] | undefined {
  const runOf = (copy: { target: string; what: string }) =>
    runs.findLast(({ target, what, started_at: at }) => target === copy.target && what === copy.what && at >= since);
  const ended = copies.flatMap((copy) => runOf(copy) ?? []);
  return ended.length < copies.length ? undefined : ended;
}

const unfinished: readonly Restore["state"][] = ["waiting", "fetching", "placing", "undoing"];

export const isUnfinished = ({ state }: Pick<Restore, "state">): boolean => unfinished.includes(state);

/** Whether each has ended. Of a restore that is being undone, the end is the new one. */
export const haveEnded = (restores: readonly Restore[]): boolean =>
  restores.every(({ ended_at: ended, state }) => ended !== undefined && state !== "undoing");
