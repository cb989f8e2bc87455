import { isoTime } from "../../base/pure/iso-time.ts";
import { join } from "node:path";
import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { WalArchive } from "../core/wal-objects.ts";
import type { DatabaseRestore } from "../api/databases.ts";
import type { Stretch } from "../core/wal-plan.ts";
import type { StoredTarget } from "./records.ts";
import {
  clearFolder,
  clearNames,
  joinFiles,
  openVolumeFolder,
  removeFolder,
  type VolumeFolder,
  writeText,
} from "../restic/outbox.ts";
import type { Remote } from "./remote.ts";

interface BringOptions {
  remote: Remote;
  archive: WalArchive;
  stretch: Stretch;
  /** Epoch milliseconds; undefined for everything that there is. */
  until: number | undefined;
  mountPoint: string;
  staging: string;
  /** Aborts when it has taken too long. */
  limit: AbortSignal;
}

/** How many pieces of WAL are brought at once: they lie on the disk twice for that time. */
const piecesAtOnce = 200;

/**
 * Brings a base backup and its WAL into the folder `restore` of a volume, whose pod waits for the file `ready`. What goes wrong is
 * told there too, in `failed`.
 */
export async function bringDatabase(options: BringOptions): Promise<void> {
  const folder = await openVolumeFolder(options.mountPoint, ["restore"], { make: true });
  if (folder === undefined) throw new Failure("conflict", "the volume of the restore is gone");
  try {
    await bring(options, folder);
  } catch (error) {
    const why = shownCause(error);
    await writeText(folder, "failed", why);
    throw error;
  } finally {
    await folder.close();
    await removeFolder(options.staging);
  }
}

async function bring(options: BringOptions, folder: VolumeFolder): Promise<void> {
  const { remote, archive, stretch, until, limit } = options;
  const refuseLate = () => {
    if (limit.aborted)
      throw new Failure("conflict", "bringing the database took too long; try again with a nearer target");
  };
  await clearNames(folder);
  const { base, pieces, timeline } = stretch;
  for (const { path } of await remote.list(base.folder)) {
    if (path.startsWith("about.")) continue;
    refuseLate();
    const file = await folder.make(path);
    try {
      await remote.read(`${base.folder}/${path}`, file.fd);
    } finally {
      await file.close();
    }
  }
  // A segment in pieces is one packed file behind the other, which is a packed file again.
  const segments = [...Map.groupBy(pieces, ({ segment }) => segment)].map(([segment, its]) => ({
    ...{ name: `${segment}.gz`, paths: its.map(({ path }) => path) },
  }));
  const histories = new Map(archive.branches.map(({ timeline: of, path }) => [hexOf(of), path]));
  for (const [of, path] of histories) segments.unshift({ name: `${of}.history.gz`, paths: [path] });
  for (let at = 0; at < segments.length; at += piecesAtOnce) {
    const some = segments.slice(at, at + piecesAtOnce);
    refuseLate();
    await clearFolder(options.staging);
    await remote.bring(
      some.flatMap(({ paths }) => paths),
      options.staging,
    );
    for (const { name, paths } of some) {
      await joinFiles(
        folder,
        name,
        paths.map((path) => join(options.staging, path)),
      );
    }
  }
  await writeText(folder, "about", await remote.text(base.about));
  await writeText(folder, "segment-bytes", `${base.segmentBytes}\n`);
  await writeText(folder, "timeline", `${timeline}\n`);
  if (until !== undefined) await writeText(folder, "until", `${new Date(until).toISOString().replace("Z", "+00")}\n`);
  await writeText(folder, "ready", "");
}

const hexOf = (timeline: number) => timeline.toString(16).toUpperCase().padStart(8, "0");

/** A line "key value" of what was noted about a base backup. */
export const pairOf = (line: string): [string, string] => {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
};

interface Planned {
  target: StoredTarget;
  stretch: Stretch;
  ms: number;
  at: string | undefined;
  about: ReadonlyMap<string, string>;
}

/** A plan as the API has it. */
export function shownPlan({ target, stretch, ms, at, about }: Planned): DatabaseRestore {
  return {
    target: target.name,
    at: at === undefined ? undefined : isoTime(ms),
    base: isoTime(stretch.base.endedAt),
    segments: new Set(stretch.pieces.map(({ segment }) => segment)).size,
    version: about.get("version") ?? "",
    image: about.get("image") ?? "",
    image_id: about.get("image_id") ?? "",
  };
}

/** The answer to a time that cannot be restored: the range, or the two ends of the gap that it lies in. */
export function outside(
  { scope, name }: { scope: string; name: string },
  at: number,
  ranges: readonly { from: number; to: number }[],
): Failure {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined) {
    return new Failure(
      "not_found",
      `nothing of ${scope}/${name} can be restored to a time: no base backup is at the target yet`,
    );
  }
  const before = ranges.findLast(({ to }) => to < at);
  const after = ranges.find(({ from }) => from > at);
  const what = `${scope}/${name} cannot be restored to ${isoTime(at)}`;
  if (before === undefined || after === undefined) {
    return new Failure("conflict", `${what}: choose a time from ${isoTime(first.from)} to ${isoTime(last.to)}`);
  }
  const gap = `WAL is missing from ${isoTime(before.to)} to ${isoTime(after.from)}`;
  return new Failure("conflict", `${what}: ${gap}; choose a time before or after that`);
}
