import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Folders within folders that are looked into. */
const depthMax = 64;

/** Bytes on disk of a file or of everything in a folder; 0 where there is none. At most `filesMax` files are looked at. */
export async function folderSize(path: string, filesMax: number): Promise<number> {
  const left = { files: filesMax };
  return sizeWithin(path, left, depthMax);
}

async function sizeWithin(path: string, left: { files: number }, depth: number): Promise<number> {
  if (left.files <= 0 || depth <= 0) return 0;
  left.files -= 1;
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  const own = found.blocks * 512;
  if (!found.isDirectory()) return own;
  let sum = own;
  for (const name of await readdir(path).catch(() => [])) sum += await sizeWithin(join(path, name), left, depth - 1);
  return sum;
}
