import type { StoredManifest } from "../api/manifest.ts";
import type { ReleaseRecord } from "../store/store.ts";
import type { Transcript } from "./transcript.ts";

/**
 * The commands of releases: run in the background, each release at most once, whoever is watching. What they print is
 * kept as a transcript that callers follow.
 */
export interface ReleasePhases {
  /** Runs the phase of a pending release unless that is under way. */
  ensure(manifest: StoredManifest, release: ReleaseRecord): void;
  /** What a release printed so far; one that began before a restart of the server starts empty. */
  transcript(releaseId: string): Transcript;
  /** The replicas are replaced: the post command, then the last line. */
  rolledOut(release: ReleaseRecord): void;
  failed(release: ReleaseRecord, error: string): void;
  /**
   * Ends the transcripts that nobody writes to any more: of releases that were superseded or deleted, or that are long
   * over and were printed by an earlier run of the server.
   */
  settle(): void;
  /** True for the first caller that wants to run a release which an apply has begun. */
  claim(releaseId: string): boolean;
  close(): Promise<void>;
}
