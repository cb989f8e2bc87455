import { chmodSync, statSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { codeOf } from "../wire/disk-failure.ts";

interface DiskSpace {
  mount: string;
  usedPercent: number;
  freeBytes: number;
  /** Nothing can be stored in `own`, which is on this disk. */
  readOnly: boolean;
}

/**
 * How full the disks behind some folders are; folders of the same disk are one. A folder that is gone is left out. Only
 * `own` has to be writable: the disk of a system may be read-only by intention.
 */
export async function diskSpace(folders: readonly string[], own: string): Promise<DiskSpace[]> {
  const found = await Promise.all([...folders, own].map((mount) => spaceOf(mount, own).catch(() => undefined)));
  const disks = new Map<number, DiskSpace>();
  for (const one of found) {
    if (one === undefined) continue;
    const { device, space } = one;
    const { readOnly, ...first } = disks.get(device) ?? space;
    disks.set(device, { ...first, readOnly: readOnly || space.readOnly });
  }
  return [...disks.values()];
}

async function spaceOf(mount: string, own: string): Promise<{ device: number; space: DiskSpace }> {
  const [{ dev: device }, { bsize, blocks, bfree, bavail }] = await Promise.all([stat(mount), statfs(mount)]);
  // As df counts: what is kept for root is neither used nor free.
  const used = blocks - bfree;
  const usedPercent = used + bavail === 0 ? 0 : (100 * used) / (used + bavail);
  const readOnly = mount === own && isReadOnly(own);
  return { device, space: { mount, usedPercent, freeBytes: bavail * bsize, readOnly } };
}

/** Tried for real, by setting the mode that the folder has: after an error of the disk, a kernel may not show it otherwise. */
export function isReadOnly(folder: string): boolean {
  try {
    chmodSync(folder, statSync(folder).mode & 0o7777);
  } catch (error) {
    return ["EROFS", "EIO"].includes(codeOf(error) ?? "");
  }
  return false;
}
