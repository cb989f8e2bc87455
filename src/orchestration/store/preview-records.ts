/** A scope that belongs to a branch. Times are epoch milliseconds. */
export interface PreviewRecord {
  scope: string;
  of: string;
  branch: string;
  host: string | undefined;
  at: number;
  /** It is deleted then. */
  until: number;
}

export interface PreviewReads {
  /** Ordered by scope. */
  list(): PreviewRecord[];
}

export interface PreviewWrites {
  /** Replaces the one of the same scope. */
  put(preview: PreviewRecord): void;
  remove(scope: string): void;
}
