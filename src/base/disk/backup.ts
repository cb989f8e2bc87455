import { rm } from "node:fs/promises";
import type { Secret } from "../words/secret.ts";
import { temporaryName } from "./atomic-write.ts";
import { packBackup } from "./backup-file.ts";
import type { Key } from "./key-file.ts";

interface BackupOptions {
  /** Writes a consistent copy of the database to a new file: `store.copyTo`, or `copyDatabase` of a file in use. */
  copyDatabase: (target: string) => void;
  /** The same for the database of the identity service; undefined where there is none yet. */
  copyIdentity: ((target: string) => void) | undefined;
  key: Key;
  /** Undefined leaves the key and the config in the file as they are: then it must be kept as safe as the server. */
  passphrase: Secret | undefined;
  target: string;
  /** Epoch milliseconds. */
  now: number;
}

/** Writes the state and its key into one file, whole or not at all, readable by the owner alone. */
export async function writeBackup(options: BackupOptions): Promise<void> {
  const { copyDatabase, copyIdentity, target, ...source } = options;
  const copy = temporaryName(target);
  const identityCopy = `${copy}-identity`;
  try {
    copyDatabase(copy);
    copyIdentity?.(identityCopy);
    const identityDatabase = copyIdentity === undefined ? undefined : identityCopy;
    await packBackup(target, { ...source, database: copy, identityDatabase });
  } finally {
    for (const path of [copy, identityCopy]) await rm(path, { force: true });
  }
}
