import type { Rollout } from "../../api/kinds/rollout.ts";
import { durationRule } from "./duration.ts";
import type { Report } from "./rule.ts";

export function rolloutRules(rollout: Rollout, report: Report): void {
  const path = "spec.rollout";
  if (rollout.max_surge === 0 && (rollout.max_unavailable ?? 0) === 0) {
    report(path, "max_surge and max_unavailable are both 0, so no replica could ever be replaced");
  }
  durationRule(rollout.min_ready, `${path}.min_ready`, { report });
  durationRule(rollout.progress_deadline, `${path}.progress_deadline`, { report, aboveZero: true });
  durationRule(rollout.drain, `${path}.drain`, { report });
}
