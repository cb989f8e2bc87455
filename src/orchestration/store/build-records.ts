/** One image that was built from source, or the attempt at it. Times are epoch milliseconds. */
export interface BuildRecord {
  scope: string;
  name: string;
  /** Of what it is made from: the same input has the same id. */
  id: string;
  status: "queued" | "building" | "succeeded" | "failed" | "canceled";
  /** Digest of the folder. */
  context: string;
  dockerfile: string;
  target: string | undefined;
  /** The reference that the image has. */
  image: string;
  imageId: string | undefined;
  actor: string;
  startedAt: number;
  endedAt: number | undefined;
  error: string | undefined;
  /** What it printed, its last part. */
  log: string;
}

export interface BuildReads {
  get(scope: string, name: string, id: string): BuildRecord | undefined;
  /** Newest first. */
  list(filter: { scope?: string | undefined; name?: string | undefined }, limit: number): BuildRecord[];
  /** Queued or under way: at a start, those that a killed server left. */
  unfinished(): BuildRecord[];
  /** Ids of the images of builds that ended at `since` or later. */
  imagesSince(since: number): string[];
}

export interface BuildWrites {
  /** Inserts or replaces by scope, name and id; the newest `buildsKept` of the app stay. */
  put(build: BuildRecord): void;
}
