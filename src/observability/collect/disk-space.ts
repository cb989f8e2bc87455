import { statfs } from "node:fs/promises";

export interface DiskSpace {
  mount: string;
  usedPercent: number;
  freeBytes: number;
}

/** How full the disks behind some folders are; folders of the same disk are one. A folder that is gone is left out. */
export async function diskSpace(folders: readonly string[]): Promise<DiskSpace[]> {
  const found = await Promise.all(folders.map((mount) => spaceOf(mount).catch(() => undefined)));
  const disks = new Map<string, DiskSpace>();
  for (const one of found) {
    // Two file systems with the same figures to the byte are one.
    if (one !== undefined && !disks.has(one.key)) disks.set(one.key, one.space);
  }
  return [...disks.values()];
}

async function spaceOf(mount: string): Promise<{ key: string; space: DiskSpace }> {
  const { type, bsize, blocks, bfree, bavail } = await statfs(mount);
  // As df counts: what is kept for root is neither used nor free.
  const used = blocks - bfree;
  const usedPercent = used + bavail === 0 ? 0 : (100 * used) / (used + bavail);
  return { key: `${type} ${blocks} ${bfree}`, space: { mount, usedPercent, freeBytes: bavail * bsize } };
}
