import { rm } from "node:fs/promises";
import type { Secret } from "../lib/secret.ts";
import { temporaryName } from "./atomic-write.ts";
import { packBackup } from "./backup-file.ts";
import type { Key } from "./key-file.ts";

export interface BackupOptions {
  /** Writes a consistent copy of the database to a new file: `store.copyTo`, or `copyDatabase` of a file in use. */
  copyDatabase: (target: string) => void;
  key: Key;
  /** Undefined leaves the key and the config in the file as they are: then it must be kept as safe as the server. */
  passphrase: Secret | undefined;
  target: string;
  /** Epoch milliseconds. */
  now: number;
}

/** Writes the state and its key into one file, whole or not at all, readable by the owner alone. */
export async function writeBackup({ copyDatabase, target, ...source }: BackupOptions): Promise<void> {
  const copy = temporaryName(target);
  try {
    copyDatabase(copy);
    await packBackup(target, { ...source, database: copy });
  } finally {
    await rm(copy, { force: true });
  }
}
