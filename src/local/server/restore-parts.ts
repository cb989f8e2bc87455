import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Snapshot } from "../../backups/core/restic-words.ts";
import { newestParts, partsOf } from "../../backups/core/restore-choice.ts";
import type { Repository } from "../../backups/service/repository.ts";
import type { Layout } from "../../base/disk/layout.ts";
import { isoTime } from "../../base/pure/iso-time.ts";
import { shownCause } from "../../base/wire/failure.ts";
import { giveTree } from "../../base/disk/root.ts";
import { backupLimits } from "../../config/backup-limits.ts";
import { layLogs } from "../stored-logs.ts";
import { thisMachine } from "./machine.ts";
import { stopwatch } from "./restore-rest.ts";

export const limitOf = (at: string | undefined) => (at === undefined ? Infinity : Date.parse(at));

/** The time of each part that comes back, and the time that brings all of them back as they were together. */
export function partLines(
  snapshots: readonly Snapshot[],
  { stateAt, at, logs = false }: { stateAt: number; at: string | undefined; logs?: boolean | undefined },
) {
  const [limit, oldMs] = [limitOf(at), backupLimits.drillOldMs];
  const { rows, together } = partsOf(snapshots, { stateAt, limit, oldMs });
  const width = Math.max(...["state", ...rows.map(({ what }) => what)].map(({ length }) => length));
  const noteOf = (what: string, isOld: boolean) =>
    what === "logs" && !logs ? "  (stay there without --logs)" : isOld ? "  (not copied any more)" : "";
  return [
    `${"state".padEnd(width)}  ${isoTime(stateAt)}`,
    ...rows.map(({ what, at: of, isOld }) => `${what.padEnd(width)}  ${isoTime(of)}${noteOf(what, isOld)}`),
    ...(together === undefined || at !== undefined
      ? []
      : [`all of one time: --at ${isoTime(together)}, here and with berth backup restore --all`]),
  ];
}

interface Asked {
  repository: Repository;
  snapshots: readonly Snapshot[];
  layout: Layout;
  /** The time that copies are of at the latest. */
  limit: number;
  signal: AbortSignal;
}

/**
 * Brings back the repositories of git push, where this root has none yet. False where they did not come back: the state matters
 * more, and does not wait for them.
 */
export async function restoreParts({ repository, snapshots, layout, limit, signal }: Asked): Promise<boolean> {
  const copy = newestParts(snapshots, limit).find(({ what }) => what === "repositories");
  if (copy === undefined) return true;
  const [folder, place] = [join(layout.copies, "restored-repositories"), layout.repositories];
  // What an earlier run has not put in its place all of is still there.
  if (!existsSync(folder) && readdirSync(place).length > 0) {
    thisMachine.say(`repositories: there are some in ${place}, and they stay`);
    return true;
  }
  try {
    const took = stopwatch();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await repository.restore(copy.id, folder, signal);
    await giveTree(folder, { uid: 0, gid: statSync(place).gid });
    for (const name of readdirSync(folder)) await putInPlace(folder, place, name);
    await rm(folder, { recursive: true, force: true });
    thisMachine.say(`repositories, ${took()}`);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    thisMachine.say(`repositories did not come back: ${shownCause(error)}; run the same command again`);
    return false;
  }
}

/** Lays stored logs, metrics and traces ready for the next start of the server. */
export async function restoreLogs({ repository, snapshots, layout, limit, signal }: Asked): Promise<void> {
  const copy = newestParts(snapshots, limit).find(({ what }) => what === "logs");
  if (copy === undefined)
    return thisMachine.say("logs: the target has no copy of them; berth backup target add --logs makes one each day");
  const took = stopwatch();
  const isNew = await layLogs(layout, copy.id, (folder) => repository.restore(copy.id, folder, signal));
  thisMachine.say(isNew ? `logs, ${took()}: the server takes them up when it starts` : "logs: they are back already");
}

/** Whole where there is nothing of the name, otherwise what is missing of it. What is there stays. */
async function putInPlace(folder: string, place: string, path: string): Promise<void> {
  const [from, to] = [join(folder, path), join(place, path)];
  if (!existsSync(to)) await rename(from, to);
  else if (!path.endsWith(".git") && statSync(from).isDirectory())
    for (const name of readdirSync(from)) await putInPlace(folder, place, join(path, name));
}
