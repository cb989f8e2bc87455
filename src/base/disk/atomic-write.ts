import { randomBytes } from "node:crypto";
import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { diskFailure } from "../wire/disk-failure.ts";

/** A temporary name beside the target: `.key.1f2e3d4c.tmp`. */
const leftover = /^\..+\.[0-9a-f]{16}\.tmp$/;

export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(8).toString("hex")}.tmp`);
}

/**
 * Writes a file whole or not at all: readers see the old or the new content, also after a power cut. Fails
 * `storage_full` when the disk is full.
 */
export async function writeAtomic(path: string, content: Uint8Array | string, mode: number): Promise<void> {
  const temporary = temporaryName(path);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(content);
      // The mode given to open is cut by the umask.
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await moveInPlace(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw diskFailure(error, path);
  }
}

/** Renames a finished file over `path` and syncs the folder, so that the new name survives a power cut. */
export async function moveInPlace(from: string, path: string): Promise<void> {
  await rename(from, path);
  await syncFolder(dirname(path));
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes temporary files that a crash left in `folder`; no process may be writing there. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (leftover.test(name)) await rm(join(folder, name), { force: true });
  }
}
