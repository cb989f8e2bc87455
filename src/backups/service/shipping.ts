import { Failure } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { expiredPaths, outboxFile, readArchives } from "../core/wal-objects.ts";
import type { WalMark } from "../core/wal-plan.ts";
import { openVolumeFolder, stageFiles, textIn, type VolumeFolder } from "../restic/outbox.ts";
import type { Remote } from "./remote.ts";

/** A database whose WAL goes to a target, as its block asks for it. */
export interface ShippedDatabase {
  scope: string;
  name: string;
  /** How far back it can be restored. */
  keepMs: number;
  /** Name of the target; undefined for the first that keeps files. */
  target: string | undefined;
  /** Where the volume that its pods share lies on this machine; undefined while there is none. */
  mountPoint: string | undefined;
  /** What its pods run: the reference, and what the engine made of it. */
  image: string;
  imageId: string;
}

/** How the shipping of one database goes. Times are epoch milliseconds. */
export interface ShippingState {
  /** What was shipped last. */
  shippedAt: number | undefined;
  /** Everything until then is at the target. */
  mark: WalMark | undefined;
}

interface ShipOptions {
  database: ShippedDatabase;
  remote: Remote;
  state: ShippingState;
  /** An own folder, for what is under way. */
  staging: string;
  limits: { batchBytes: number; walFileBytesMax: number };
  clock: Pick<Clock, "now">;
  log: Log;
}

/** Folder of the volume that is for this. */
const homeOf = ["point-in-time"] as const;

/** Ships the WAL that is in the outbox, and removes it there once the target has listed it. Fails as the target does. */
export async function shipWal(options: ShipOptions): Promise<void> {
  await inFolder(options, "outbox", async (outbox) => {
    const { remote, state, staging, limits, clock } = options;
    // Read before the outbox is: what is in WAL by then is in the outbox, or at the target.
    const mark = await readMark(options.database);
    const files = filesOf(await outbox.names(), ["wal"], clock.now());
    const staged = await stageFiles(outbox, files, {
      ...{ into: staging, bytesMax: limits.batchBytes, fileBytesMax: limits.walFileBytesMax },
    });
    if (staged.length > 0) {
      await remote.send(staging);
      await removeListed(outbox, remote, staged);
      state.shippedAt = clock.now();
    }
    if (staged.length === files.length && mark !== undefined) state.mark = mark;
  });
}

/** Packed data has no holes; what is small may lie elsewhere than in blocks. */
const sparseBytesMin = 1024 * 1024;

/** Ships base backups: their files one by one, and last what makes them complete. Then removes what is too old. */
export async function shipBases(options: ShipOptions): Promise<void> {
  await inFolder(options, "bases", async (outbox) => {
    const { database, remote, clock, log } = options;
    const names = await outbox.names();
    for (const { name, path } of filesOf(names, ["base"], clock.now())) {
      const file = await outbox.read(name);
      if (file === undefined) continue;
      try {
        const { size: bytes, blocks } = await file.stat();
        // A container can make a file as large as it likes, on no room at all.
        if (bytes > sparseBytesMin && blocks * 512 < bytes / 32)
          throw new Failure(
            "conflict",
            `${name} among the base backups is a file of holes; find out what wrote it, and remove it there`,
          );
        await remote.write(path, file.fd, bytes);
        await removeListed(outbox, remote, [{ name, path, bytes }]);
      } finally {
        await file.close();
      }
    }
    for (const { name, path } of filesOf(names, ["about"], clock.now())) {
      const text = `${await textIn(outbox, name)}image ${database.image}\nimage_id ${database.imageId}\n`;
      const bytes = Buffer.byteLength(text);
      await remote.write(path, text, bytes);
      await removeListed(outbox, remote, [{ name, path, bytes }]);
      log.info("base backup shipped", { scope: database.scope, name: database.name, path });
      await expire(options);
    }
  });
}

async function expire({ database: { scope, name, keepMs }, remote, clock, log }: ShipOptions): Promise<void> {
  try {
    const paths = (await remote.list("")).map(({ path }) => path);
    const old = expiredPaths(readArchives(paths), paths, { now: clock.now(), keepMs });
    await remote.remove(old);
    if (old.length > 0) log.info("old WAL removed at the target", { scope, name, files: old.length });
  } catch (error) {
    log.warn("old WAL not removed at the target", { scope, name, error });
  }
}

async function inFolder(
  { database }: ShipOptions,
  name: string,
  work: (outbox: VolumeFolder) => Promise<void>,
): Promise<void> {
  if (database.mountPoint === undefined) return;
  const outbox = await openVolumeFolder(database.mountPoint, [...homeOf, name]);
  try {
    if (outbox !== undefined) await work(outbox);
  } finally {
    await outbox?.close();
  }
}

function filesOf(names: readonly string[], kinds: readonly string[], now: number) {
  return names.toSorted().flatMap((name) => {
    const file = outboxFile(name, now);
    return file !== undefined && kinds.includes(file.kind) ? [{ name, path: file.path }] : [];
  });
}

/** A file leaves the outbox when the target has listed it with its size. */
async function removeListed(
  outbox: VolumeFolder,
  remote: Remote,
  sent: readonly { name: string; path: string; bytes: number }[],
): Promise<void> {
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/"));
  const listed = new Map<string, number>();
  for (const folder of new Set(sent.map(({ path }) => folderOf(path)))) {
    for (const { path, bytes } of await remote.list(folder)) listed.set(`${folder}/${path}`, bytes);
  }
  for (const { name, path, bytes } of sent) {
    if (listed.get(path) !== bytes)
      throw new Failure("unavailable", `the target does not list ${path}, which it has taken`);
    await outbox.remove(name);
  }
}

async function readMark({ mountPoint = "" }: ShippedDatabase): Promise<WalMark | undefined> {
  const home = await openVolumeFolder(mountPoint, homeOf);
  try {
    const [, at, segment, to, system = ""] =
      /^(\d{10,15}) ([0-9A-F]{24}) (\d{1,10}) (\d{1,20})\n$/.exec(await textIn(home, "mark")) ?? [];
    return segment === undefined ? undefined : { at: Number(at), segment, to: Number(to), system };
  } finally {
    await home?.close();
  }
}
