import { lstat, readdir, realpath, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../wire/failure.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";
import type { Layout } from "./layout.ts";

/** Removes `<root>/apps/<appId>` with all it holds. False when it was not there. */
export function removeAppDir(layout: Layout, appId: string): Promise<boolean> {
  return removeBelow(layout.root, "apps", appId);
}

/** Removes `<root>/volumes/<appId>` with all it holds. False when it was not there. */
export function removeVolumeDir(layout: Layout, appId: string): Promise<boolean> {
  return removeBelow(layout.root, "volumes", appId);
}

/** What `<root>/apps` and `<root>/volumes` hold, as `apps/<appId>` and `volumes/<appId>`. */
export async function listAppDirs(layout: Layout): Promise<{ appId: string; path: string }[]> {
  const found = await Promise.all(
    [layout.apps, layout.volumes].map(async (folder) => {
      const names = await readdir(folder).catch((error) => {
        if (codeOf(error) === "ENOENT") return [];
        throw diskFailure(error, folder);
      });
      return names.sort().map((appId) => ({ appId, path: join(folder, appId) }));
    }),
  );
  return found.flat();
}

/** Links are removed, never followed: neither the folder itself nor what lies in it leads out of the root. */
async function removeBelow(root: string, folder: string, name: string): Promise<boolean> {
  if (name === "" || name === "." || name === ".." || /[/\0]/.test(name)) {
    throw new Failure("invalid", `"${name}" is not the name of an app folder`);
  }
  const target = join(root, folder, name);
  try {
    if ((await realpath(join(root, folder))) !== join(await realpath(root), folder)) {
      throw new Failure("conflict", `"${join(root, folder)}" leads out of the root: nothing was removed`);
    }
    const found = await lstat(target);
    if (found.isDirectory()) await rm(target, { recursive: true });
    else await unlink(target);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw diskFailure(error, target);
  }
}
