import { chmod, chown, lchown, lstat, mkdir, readdir, realpath, rm, rmdir, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Failure } from "../wire/failure.ts";
import { removeLeftovers } from "./atomic-write.ts";
import { diskFailure } from "../wire/disk-failure.ts";
import { type Layout, socketPathBytesMax } from "./layout.ts";

/**
 * Makes the folders of a root and clears what a crash left half written. Call it as the holder
 * of the root's lock. Fails `unavailable` or `storage_full` naming the folder that cannot be made.
 */
export async function prepareRoot(layout: Layout): Promise<void> {
  await makeFolders(layout);
  for (const folder of [layout.root, layout.assets, layout.backups]) await removeLeftovers(folder);
}

/** Only the folders: what the lock needs before anything else. */
export async function makeFolders(layout: Layout): Promise<void> {
  // Plugins have users of their own, who get to their folders whatever our umask is. Later its mode is the operator's.
  if (await makeFolder(layout.root, 0o755)) await letThrough(layout.root);
  for (const folder of [layout.apps, layout.volumes, layout.plugins]) await makeFolder(folder, 0o755);
  // Mounted into containers, whose users read the files; no other user learns the names, which are their digests.
  await closeFolder(layout.assets, 0o711);
  // Sockets, copies of the state, and what apps print: for the owner alone, also when someone loosened them.
  if (layout.sockets !== layout.run) await makeSocketFolder(layout);
  for (const folder of [layout.run, layout.backups, layout.logs, layout.builds, layout.repositories, layout.ingress]) {
    await closeFolder(folder, 0o700);
  }
}

/** Beside the root, in a folder of the machine: one that is there already has to be ours. Fails `unavailable`. */
async function makeSocketFolder({ root, sockets }: Layout): Promise<void> {
  const way = `paths of sockets hold ${socketPathBytesMax} bytes, so those of the long root "${root}" go to ${sockets}`;
  try {
    await mkdir(sockets, { mode: 0o700 });
  } catch (error) {
    const found = await lstat(sockets).catch(() => undefined);
    if (found === undefined) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Failure("unavailable", `${way}, which cannot be made (${why}): choose a shorter root`, {
        cause: error,
      });
    }
    if (!found.isDirectory() || found.uid !== process.getuid?.()) {
      throw new Failure(
        "unavailable",
        `${way}, which is not a folder of this user: remove it, or choose a shorter root`,
      );
    }
  }
  await chmod(sockets, 0o700);
}

/**
 * Leads from where the socket of a server is expected, `ROOT/run/berth.sock`, to where it is. Only where these are two
 * places: a client can connect through a link whose own path is short enough.
 */
export async function linkSocket({ run, sockets, socket }: Layout): Promise<void> {
  if (sockets === run) return;
  const link = join(run, basename(socket));
  await rm(link, { force: true });
  await symlink(socket, link);
}

/** Removes the folder of the sockets beside the root, unless HAProxy still uses it. */
export async function leaveSocketFolder({ run, sockets, socket }: Layout): Promise<void> {
  if (sockets === run) return;
  await rm(join(run, basename(socket)), { force: true });
  await rmdir(sockets).catch(() => undefined);
}

async function letThrough(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o011) !== 0o011) await chmod(path, (mode & 0o7777) | 0o011);
}

async function closeFolder(path: string, mode: number): Promise<void> {
  await makeFolder(path, mode);
  await chmod(path, mode);
}

/** Whether it was not there. */
async function makeFolder(path: string, mode: number): Promise<boolean> {
  try {
    return (await mkdir(path, { recursive: true, mode })) !== undefined;
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/**
 * Lets the members of a group reach the socket in `run`: they may pass through the folders above it, and read neither.
 * What they push goes to `repositories`, and stays the group's. A server that may not hand them over leaves them as they are.
 */
export async function openRootToGroup({ root, run, sockets, repositories }: Layout, gid: number): Promise<void> {
  try {
    const { mode } = await stat(root);
    if ((mode & 0o001) === 0) await giveTo(root, gid, mode | 0o010);
    for (const folder of new Set([run, sockets])) await giveTo(folder, gid, 0o710);
    await giveTo(repositories, gid, 0o2770);
    // Those of a copy have the group of the machine that it was made on.
    for (const name of await readdir(repositories)) await handOver(join(repositories, name), gid);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) throw diskFailure(error, run);
  }
}

/** Gives a folder with all in it to a group, where it is another one's. Links are not followed. */
async function handOver(path: string, gid: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.gid === gid) return;
  await giveTree(path, { uid: found.uid, gid });
}

/** Gives all of a folder to a user and a group, and itself last: what was cut off is not taken for done. Links are not followed. */
export async function giveTree(path: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  if ((await lstat(path)).isDirectory())
    for (const name of await readdir(path)) await giveTree(join(path, name), { uid, gid });
  await lchown(path, uid, gid);
}

async function giveTo(path: string, gid: number, mode: number): Promise<void> {
  await chown(path, -1, gid);
  await chmod(path, mode & 0o7777);
}

/** Whether a path is a folder or lies in it, wherever links lead. What is not there yet counts where it would be made. */
export async function liesWithin(path: string, folder: string): Promise<boolean> {
  const [place, whole] = await Promise.all([standing(path), standing(folder)]);
  return place === whole || place.startsWith(`${whole}/`);
}

async function standing(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  return real ?? join(await standing(dirname(path)), basename(path));
}
