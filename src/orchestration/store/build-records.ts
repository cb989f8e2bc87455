import type { GitSource } from "../api/builds.ts";

/** What a build was asked for beside its folder. Values of secrets are never part of it. */
export interface BuildAsked {
  args?: Record<string, string>;
  config_secrets?: string[];
  buildkit?: boolean;
  memory?: string;
  cpu?: string;
  /** Ids of secrets whose values came with the request, and are gone. */
  given?: string[];
}

/** One image that was built from source, or the attempt at it. Times are epoch milliseconds. */
export interface BuildRecord {
  scope: string;
  name: string;
  /** Id of what it is made from: the same input has the same id. */
  id: string;
  status: "queued" | "building" | "succeeded" | "failed" | "canceled";
  /** Digest of the folder. */
  context: string;
  dockerfile: string;
  target: string | undefined;
  /** The reference that the image has. */
  image: string;
  imageId: string | undefined;
  imageBytes?: number | undefined;
  asked?: BuildAsked;
  /** The commit that the folder was fetched from. */
  git?: GitSource | undefined;
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
