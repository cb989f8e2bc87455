import type { ReleaseRecord } from "../../store/store.ts";
import type { Transcript } from "./transcript.ts";

/**
 * The commands of releases: run in the background, one after the other per resource, with or without a watcher. What they
 * print is kept as a transcript that callers follow.
 */
export interface ReleasePhases {
  /** Does what is left to do of a release's commands, unless that is under way. */
  takeUp(release: ReleaseRecord): void;
  /** What a release has printed. */
  transcript(releaseId: string): Transcript;
  /** Ends the transcripts of releases that are over. */
  settle(): void;
  /** True for the first caller that wants to run a release which an apply has begun. */
  claim(releaseId: string): boolean;
  /** Lets go; containers of commands go on and are found again by the next server. */
  close(): Promise<void>;
}
