import type { Credentials } from "../core/target.ts";

/** What is stored about copies, sealed. Reads see the last commit; writes resolve once they are durable. */
export interface BackupRecords {
  /** The recovery key; undefined before the first target. */
  key(): string | undefined;
  setKey(text: string): Promise<void>;
  targets(): StoredTarget[];
  putTarget(target: StoredTarget): Promise<void>;
  removeTarget(name: string): Promise<void>;
  /** Newest first. */
  runs(target: string): StoredRun[];
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
  error: string | undefined;
}
