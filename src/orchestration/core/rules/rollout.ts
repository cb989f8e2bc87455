import type { Rollout } from "../../api/kinds/rollout.ts";
import { formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import { crashAfterLeastMs } from "../resolve-rollout.ts";
import { durationRule } from "./duration.ts";
import type { Report } from "./rule.ts";

export function rolloutRules(rollout: Rollout, report: Report): void {
  const path = "spec.rollout";
  if (rollout.max_surge === 0 && (rollout.max_unavailable ?? 0) === 0) {
    report(path, "max_surge and max_unavailable are both 0, so no replica could ever be replaced");
  }
  durationRule(rollout.min_ready, `${path}.min_ready`, { report });
  durationRule(rollout.progress_deadline, `${path}.progress_deadline`, { report, aboveZero: true });
  durationRule(rollout.crash_loop_after, `${path}.crash_loop_after`, { report });
  const crashAfterMs = parseDuration(rollout.crash_loop_after ?? "");
  if (crashAfterMs !== undefined && crashAfterMs < crashAfterLeastMs) {
    const least = formatDuration(crashAfterLeastMs);
    report(
      `${path}.crash_loop_after`,
      `"${rollout.crash_loop_after}" is too short: an app may exit until its database answers; use ${least} or more`,
    );
  }
  durationRule(rollout.drain, `${path}.drain`, { report });
}
