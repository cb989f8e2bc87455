import { join } from "node:path";
import { Failure, shownCause } from "../../base/wire/failure.ts";
import type { WalArchive } from "../core/wal-objects.ts";
import type { Stretch } from "../core/wal-plan.ts";
import {
  clearFolder,
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
  for (const name of await folder.names()) await folder.remove(name);
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
  await writeText(folder, "segment-bytes", `${base.segmentBytes}\n`);
  await writeText(folder, "timeline", `${timeline}\n`);
  if (until !== undefined) await writeText(folder, "until", `${new Date(until).toISOString().replace("Z", "+00")}\n`);
  await writeText(folder, "ready", "");
}

const hexOf = (timeline: number) => timeline.toString(16).toUpperCase().padStart(8, "0");
