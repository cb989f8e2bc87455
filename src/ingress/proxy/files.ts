import { chmod, mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { temporaryName } from "../../base/disk/atomic-write.ts";
import { codeOf, diskFailure } from "../../base/wire/disk-failure.ts";
import type { ProxyFile } from "../core/change.ts";

/**
 * Writes all files beside their places first, and moves them only when all of them are whole, the first one before the
 * others. They survive the end of
 * this process, and not necessarily a power cut: then the server writes them again before it starts the proxy. Fails
 * `storage_full` when the disk is full; what was there before is untouched then.
 */
export async function writeFiles(files: readonly ProxyFile[]): Promise<void> {
  const written: { temporary: string; path: string }[] = [];
  try {
    for (let first = 0; first < files.length; first += atOnce) {
      const some = files.slice(first, first + atOnce).map((file) => ({ ...file, temporary: temporaryName(file.path) }));
      written.push(...some);
      // All of them end before what was begun is cleared away.
      const ends = await Promise.allSettled(
        some.map(({ temporary, content, mode }) => writeOne(temporary, content, mode)),
      );
      for (const [index, end] of ends.entries()) {
        if (end.status === "rejected") throw diskFailure(end.reason, some[index]?.path ?? "");
      }
    }
    const [first, ...others] = written.map(
      ({ temporary, path }) =>
        () =>
          rename(temporary, path),
    );
    await first?.();
    await Promise.all(others.map((move) => move()));
  } catch (error) {
    // All of them, also where one cannot be removed because its folder is none.
    await Promise.allSettled(written.map(({ temporary }) => rm(temporary, { force: true })));
    throw error;
  }
}

/** Files that are written at one time. */
const atOnce = 16;

/** Each call to the disk is a turn of the loop, and a change of a route waits for all of them. */
async function writeOne(path: string, content: string, mode: number): Promise<void> {
  const write = () => writeFile(path, content, { mode, flag: "wx" });
  await write().catch(async (error) => {
    if (codeOf(error) !== "ENOENT") throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await write();
  });
  // The mode of a new file is cut by the umask.
  if ((mode & process.umask()) !== 0) await chmod(path, mode);
}

/** The files as they are now, to be put back; undefined for those that are not there. */
export async function readFiles(
  files: readonly ProxyFile[],
): Promise<{ file: ProxyFile; before: string | undefined }[]> {
  return Promise.all(
    files.map(async (file) => ({ file, before: await readFile(file.path, "utf8").catch(() => undefined) })),
  );
}

export async function removeFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

/** Empties a file that another program appends to, once it is larger than this. */
export async function emptyWhenLarge(path: string, bytesMax: number): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > bytesMax) await truncate(path, 0);
}
