import type { ReleaseRecord } from "../../store/store.ts";
import { awaitsPost } from "./release-step.ts";
import { createTranscript, type Transcript } from "../state/transcript.ts";

/** What releases say, for those who follow. */
interface Transcripts {
  /** For a release that began before this server did: what its record kept. */
  of(releaseId: string): Transcript;
  /** Ends those of releases that are over, each with one last line that tells how. */
  settle(): void;
}

const bytesMax = 1024 * 1024;
const endedKept = 200;

export function createTranscripts(releaseOf: (id: string) => ReleaseRecord | undefined): Transcripts {
  const open = new Map<string, Transcript>();
  const ended = new Map<string, Transcript>();

  function settleOne(id: string, transcript: Transcript): void {
    const release = releaseOf(id);
    if (release !== undefined && !isOver(release)) return;
    transcript.heading(`Release ${id} ${outcomeOf(release)}`);
    transcript.end();
    open.delete(id);
    ended.set(id, transcript);
    const [oldest] = ended.keys();
    if (ended.size > endedKept && oldest !== undefined) ended.delete(oldest);
  }

  return {
    of(id) {
      const known = open.get(id) ?? ended.get(id);
      if (known !== undefined) return known;
      const made = createTranscript(bytesMax);
      made.write(releaseOf(id)?.log ?? "");
      open.set(id, made);
      settleOne(id, made);
      return made;
    },
    settle() {
      for (const [id, transcript] of open) settleOne(id, transcript);
    },
  };
}

function isOver(release: ReleaseRecord): boolean {
  return release.endedAt !== undefined && !awaitsPost(release);
}

/** The last line of a release's stream: it begins with `failed` or is `succeeded` (docs/contract/orchestration.md, 4.8). */
function outcomeOf(release: ReleaseRecord | undefined): string {
  if (release === undefined) return "failed: its resource was deleted";
  if (release.status === "succeeded") return "succeeded";
  const error = release.error ?? "unknown reason";
  return error.startsWith("failed in ") ? error : `failed: ${error}`;
}
