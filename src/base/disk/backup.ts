import { rm } from "node:fs/promises";
import type { Secret } from "../words/secret.ts";
import { temporaryName } from "./atomic-write.ts";
import { packBackup } from "./backup-file.ts";
import type { Key } from "./key-file.ts";
import { type Beside, besides } from "./layout.ts";

interface BackupOptions {
  /** Writes a consistent copy of the database to a new file: `store.copyTo`, or `copyDatabase` of a file in use. */
  copyDatabase: (target: string) => void;
  /** Like `copyDatabase`, for those beside it; left out where there is none yet. */
  copyBeside: Partial<Record<Beside, (target: string) => void>>;
  key: Key;
  /** Undefined leaves the key and the config in the file as they are: then it must be kept as safe as the server. */
  passphrase: Secret | undefined;
  target: string;
  /** Epoch milliseconds. */
  now: number;
}

/** Writes the state and its key into one file, whole or not at all, readable by the owner alone. */
export async function writeBackup(options: BackupOptions): Promise<void> {
  const { copyDatabase, copyBeside, target, ...source } = options;
  const copy = temporaryName(target);
  const beside: Partial<Record<Beside, string>> = {};
  try {
    copyDatabase(copy);
    for (const name of besides) {
      const copyOne = copyBeside[name];
      if (copyOne === undefined) continue;
      beside[name] = `${copy}-${name}`;
      copyOne(beside[name]);
    }
    await packBackup(target, { ...source, database: copy, beside });
  } finally {
    for (const path of [copy, ...Object.values(beside)]) await rm(path, { force: true });
  }
}
