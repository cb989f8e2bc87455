import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeBackup } from "../base/disk/backup.ts";
import type { Key } from "../base/disk/key-file.ts";
import type { Layout } from "../base/disk/layout.ts";
import { copiesBeside } from "./copies-beside.ts";

/** Copies that a server has made and not removed, by the address of the target: a copy of the state holds the list. */
export type KnownCopies = Record<string, { id: string; at: number }[]>;
export const copiesFile = "copies.json";

/** Name of the backup file in a copy. */
export const stateFile = "berth.backup";

/**
 * Writes the server's state into a folder of its own, from where it is copied to a target: that encrypts it by the recovery
 * key. `close` removes the folder.
 */
export async function stageState(
  layout: Layout,
  { key, copyTo, now, copies }: { key: Key; copyTo: (path: string) => void; now: number; copies: KnownCopies },
): Promise<{ folder: string; close(): Promise<void> }> {
  const folder = join(layout.copies, "state");
  const close = () => rm(folder, { recursive: true, force: true });
  // A server that was killed leaves its own there.
  await close();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeBackup({
      ...{ copyDatabase: copyTo, copyBeside: copiesBeside(layout), key, passphrase: undefined, now },
      target: join(folder, stateFile),
    });
    await writeFile(join(folder, copiesFile), JSON.stringify(copies), { mode: 0o600 });
  } catch (error) {
    await close();
    throw error;
  }
  return { folder, close };
}
