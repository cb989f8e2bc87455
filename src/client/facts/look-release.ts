import type { Release } from "../../orchestration/api/releases.ts";
import { takenBackText } from "./taken-back.ts";
import type { Look } from "./wait.ts";

/** Picks the release that is waited for. */
export type IsRelease = (release: Pick<Release, "id" | "revision">) => boolean;

/** Faults that end a release within a moment, with a reason of its own. */
const ending = ["CrashLoop", "OutOfMemory", "ProgressDeadline"];

/**
 * What a look means when a release is waited for: its failure is one, whatever runs now, and nothing is ready before
 * it has succeeded. `status` is the status blob, its releases newest first.
 */
export function judgeRelease(look: Look, status: Record<string, unknown> | null, isIt: IsRelease): Look {
  const releases: Partial<Release>[] = Array.isArray(status?.releases) ? status.releases : [];
  const index = releases.findIndex(({ id = "", revision = -1 }) => isIt({ id, revision }));
  const release = releases[index];
  if (release === undefined) return look;
  if (release.status === "succeeded") return release.id === undefined ? look : { ...look, released: release.id };
  if (release.status === "failed") {
    const why = `release ${release.id} failed: ${release.error ?? "no reason given"}`;
    return { ...look, ...wentBack(releases[index - 1], release), state: "failed", why, detail: undefined };
  }
  if (release.status === "pending" && release.id !== undefined) {
    return { ...look, state: "pending", why: look.why || "its release commands run", releasing: release.id };
  }
  const isOver = look.state === "failed" && !ending.includes(look.reason ?? "");
  return isOver ? look : { ...look, state: "pending" };
}

/** `after`: the release that came after the failed one, if any. */
function wentBack(
  after: Partial<Release> | undefined,
  failed: Partial<Release>,
): Pick<Look, "rolledBackTo" | "takenBack"> {
  const { cause, rolled_back_from: rolledBackTo } = after ?? {};
  if (after === undefined || cause !== "auto_rollback" || rolledBackTo === undefined) return {};
  return { rolledBackTo, takenBack: takenBackText(after, failed) };
}
