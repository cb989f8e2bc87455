import { stat, statfs } from "node:fs/promises";

interface DiskSpace {
  mount: string;
  usedPercent: number;
  freeBytes: number;
}

/** How full the disks behind some folders are; folders of the same disk are one. A folder that is gone is left out. */
export async function diskSpace(folders: readonly string[]): Promise<DiskSpace[]> {
  const found = await Promise.all(folders.map((mount) => spaceOf(mount).catch(() => undefined)));
  const disks = new Map<number, DiskSpace>();
  for (const one of found) {
    if (one !== undefined && !disks.has(one.device)) disks.set(one.device, one.space);
  }
  return [...disks.values()];
}

async function spaceOf(mount: string): Promise<{ device: number; space: DiskSpace }> {
  const [{ dev: device }, { bsize, blocks, bfree, bavail }] = await Promise.all([stat(mount), statfs(mount)]);
  // As df counts: what is kept for root is neither used nor free.
  const used = blocks - bfree;
  const usedPercent = used + bavail === 0 ? 0 : (100 * used) / (used + bavail);
  return { device, space: { mount, usedPercent, freeBytes: bavail * bsize } };
}
