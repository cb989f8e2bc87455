import type { Credentials } from "../core/target.ts";

/** What is stored about copies, sealed. Reads see the last commit; writes resolve once they are durable. */
export interface BackupRecords {
  /** The recovery key; undefined before the first target. */
  key(): string | undefined;
  setKey(text: string): Promise<void>;
  targets(): StoredTarget[];
  putTarget(target: StoredTarget): Promise<void>;
  /** Changes it as it stands then; nothing where it was removed. */
  changeTarget(name: string, change: (stands: StoredTarget) => StoredTarget): Promise<void>;
  removeTarget(name: string): Promise<void>;
  /** Newest first. */
  runs(target: string): StoredRun[];
  /** Nothing where the target was removed. */
  putRuns(target: string, runs: readonly StoredRun[]): Promise<void>;
}

/** Times are epoch milliseconds. */
export interface StoredTarget {
  name: string;
  url: string;
  credentials: Credentials;
  everyMs: number;
  keep: string;
  createdAt: number;
  /** When copies that are too old were last removed there. */
  prunedAt: number | undefined;
}

export interface StoredRun {
  startedAt: number;
  endedAt: number;
  /** Undefined where it failed. */
  snapshot: string | undefined;
  bytes: number | undefined;
  added: number | undefined;
  /** How long the containers that use the volume were paused; undefined where they were not. */
  pausedMs?: number | undefined;
  error: string | undefined;
}

/** The recovery key, made where there is none: one for all that ask before it is stored. */
export function createKey(records: Pick<BackupRecords, "key" | "setKey">, make: () => string): () => Promise<string> {
  let making: Promise<string> | undefined;
  const made = async () => {
    const text = make();
    await records.setKey(text);
    return text;
  };
  return async () => {
    const known = records.key();
    if (known !== undefined) return known;
    making ??= made().finally(() => {
      making = undefined;
    });
    return making;
  };
}
