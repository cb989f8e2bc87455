import { chmod, chown, lstat, mkdir, open, opendir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, diskFailure } from "../../base/wire/disk-failure.ts";
import { Failure } from "../../base/wire/failure.ts";
import { refresh, type Refresh } from "./refresh.ts";

/** Folders that data is brought back into, and how it takes the place of what was there. */
export interface Folders {
  /** The file system that a path is on, or will be on. */
  space(path: string): Promise<{ disk: string; freeBytes: number }>;
  /** Made with mode 0700, as are missing folders on the way. */
  make(folder: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** A file or folder as the file system knows it, whatever its name; undefined where there is none. Links are not followed. */
  identity(path: string): Promise<string | undefined>;
  isMissingOrEmpty(folder: string): Promise<boolean>;
  /** Whether at most so many bytes in it have changed since a time, among at most so many files. */
  isNearlySame(
    folder: string,
    since: number,
    most: { littleChangedBytes: number; littleFiles: number },
  ): Promise<boolean>;
  refresh: Refresh;
  /** Owner and mode of a folder, `MODE.UID.GID`. */
  rootOf(folder: string): Promise<string>;
  /** Gives a folder the owner and the mode of another one, or of `MODE.UID.GID`. */
  dress(folder: string, like: string): Promise<void>;
  /**
   * The part of a path in a volume that is put in its place: all of it, or what is missing of it from its first missing
   * folder on. Fails `conflict` where a link or a file is on the way: following it could lead out of the volume.
   */
  part(root: string, path: string): Promise<string>;
  /** Exchanges two files or folders of one file system; where there is only one, it moves to the place of the other. */
  swap(a: string, b: string): Promise<void>;
  /** Ends a `swap` that a kill has cut off in its middle. */
  settle(a: string, b: string): Promise<void>;
  /**
   * Turns runs of zeros in large files into holes, since restic before 0.15 writes what was sparse as zeros, and waits until
   * the disk has everything: what is then renamed is whole, also after a power failure. A file system without holes keeps
   * the zeros. Fails where the disk does.
   */
  complete(folder: string, signal: AbortSignal): Promise<void>;
}

export const folders: Folders = {
  async space(path) {
    const there = await nearestThere(path);
    const [{ dev }, { bavail, bsize }] = await Promise.all([stat(there), statfs(there)]);
    return { disk: String(dev), freeBytes: bavail * bsize };
  },
  make: (folder) => naming(folder, () => mkdir(folder, { recursive: true, mode: 0o700 })),
  remove: (path) => naming(path, () => rm(path, { recursive: true, force: true })),
  identity,
  async isMissingOrEmpty(folder) {
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined) return true;
    return found.isDirectory() && (await readdir(folder)).length === 0;
  },
  async isNearlySame(folder, since, { littleChangedBytes, littleFiles }) {
    const left = { bytes: littleChangedBytes, files: littleFiles };
    await countChanged(folder, since, left).catch(() => (left.files = 0));
    return left.bytes >= 0 && left.files > 0;
  },
  refresh,
  rootOf,
  async dress(folder, like) {
    const form = /^([0-7]{1,4})\.(\d{1,10})\.(\d{1,10})$/;
    const [, mode = "700", uid, gid] = form.exec(form.test(like) ? like : await rootOf(like)) ?? [];
    await chown(folder, Number(uid), Number(gid));
    await chmod(folder, Number.parseInt(mode, 8));
  },
  async part(root, path) {
    const parts = path.split("/");
    for (const [at] of parts.entries()) {
      const prefix = parts.slice(0, at + 1).join("/");
      const found = await lstat(join(root, prefix)).catch(() => undefined);
      if (found === undefined || at === parts.length - 1) return prefix;
      if (found.isDirectory()) continue;
      const what = found.isSymbolicLink() ? "a link" : "not a folder";
      throw new Failure("conflict", `"${prefix}" in the volume is ${what} now; restore "${path}" with --into instead`);
    }
    return path;
  },
  swap: (a, b) =>
    naming(b, async () => {
      if ((await identity(a)) === undefined) await moveTo(b, a);
      else if ((await identity(b)) === undefined) await moveTo(a, b);
      else await exchange(a, b);
    }),
  settle: settleExchange,
  complete,
};

/** Takes what has changed from what is left, until that is used up. */
async function countChanged(folder: string, since: number, left: { bytes: number; files: number }): Promise<void> {
  for await (const entry of await opendir(folder)) {
    if (left.bytes < 0 || left.files <= 0) return;
    left.files -= 1;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await countChanged(path, since, left);
    else if (entry.isFile()) {
      const { ctimeMs, size } = await lstat(path);
      if (ctimeMs >= since) left.bytes -= size;
    }
  }
}

async function rootOf(folder: string): Promise<string> {
  const { mode, uid, gid } = await stat(folder);
  return `${(mode & 0o7777).toString(8)}.${uid}.${gid}`;
}

async function identity(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await lstat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

async function nearestThere(path: string): Promise<string> {
  return (await identity(path)) === undefined && path !== "/" ? nearestThere(dirname(path)) : path;
}

/** What the disk refuses is an expected error that names the path. */
async function naming(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/** `AT_FDCWD`, and `RENAME_EXCHANGE` of renameat2(2). */
const [workingFolder, exchangeFlag] = [-100, 2];

/**
 * Exchanges two files or folders of one file system, durably. The kernel does it in one step. Where it cannot (no native
 * calls without a JIT, an old file system), three renames do it: `settleExchange` finishes what a kill left of them.
 */
async function exchange(a: string, b: string): Promise<void> {
  if (!(await exchangeAtOnce(a, b))) {
    await rename(b, asideOf(a));
    await settleExchange(a, b);
  }
  await Promise.all([syncFolder(dirname(a)), syncFolder(dirname(b))]);
}

/** Ends an exchange by renames that a kill has cut off; does nothing where there is none. */
async function settleExchange(a: string, b: string): Promise<void> {
  if ((await identity(asideOf(a))) === undefined) return;
  if ((await identity(b)) === undefined) await rename(a, b);
  await rename(asideOf(a), a);
}

/** Moves a file or folder to a place where nothing is, or an empty folder, durably. */
async function moveTo(from: string, to: string): Promise<void> {
  await rename(from, to);
  await Promise.all([syncFolder(dirname(from)), syncFolder(dirname(to))]);
}

const asideOf = (path: string) => `${path}.aside`;

async function exchangeAtOnce(a: string, b: string): Promise<boolean> {
  try {
    const { dlopen, ptr } = await import("bun:ffi");
    const { symbols } = dlopen("libc.so.6", {
      renameat2: { args: ["int", "ptr", "int", "ptr", "u32"], returns: "int" },
    });
    const [from, to] = [a, b].map((path) => Buffer.from(`${path}\0`));
    if (from === undefined || to === undefined) return false;
    return symbols.renameat2(workingFolder, ptr(from), workingFolder, ptr(to), exchangeFlag) === 0;
  } catch {
    return false;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}

/** Smaller files save too little. */
const holesFromKiB = 1_024;

/** `find` follows no links. */
async function complete(folder: string, signal: AbortSignal): Promise<void> {
  const dig = ["-xdev", "-type", "f", "-size", `+${holesFromKiB}k`, "-exec", "fallocate", "--dig-holes", "{}", ";"];
  await ended(["nice", "-n", "10", "find", folder, ...dig], signal);
  const code = await ended(["sync", "--file-system", folder], signal);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`sync of ${folder} failed with exit code ${code}`);
}

async function ended(words: string[], signal: AbortSignal): Promise<number> {
  const child = Bun.spawn(["setpriv", "--pdeathsig", "TERM", "--", ...words], {
    ...{ cwd: "/", stdin: "ignore", stdout: "ignore", stderr: "ignore", signal },
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
  });
  return child.exited;
}
