/** A scope (`name` "") or one app of it takes no changes. Times are epoch milliseconds. */
export interface LockRecord {
  scope: string;
  name: string;
  reason: string;
  actor: string;
  at: number;
  /** It ends by itself then; undefined: it does not. */
  until: number | undefined;
}

export interface LockReads {
  /** Also those that are over; ordered by scope and name. */
  list(scope?: string): LockRecord[];
}

export interface LockWrites {
  /** Replaces the one of the same scope and name. */
  put(lock: LockRecord): void;
  remove(scope: string, name: string): void;
}
