import { rolloutDefaults } from "../../api/kinds/defaults.ts";
import type { Rollout } from "../../api/kinds/rollout.ts";
import { formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import { parsePercent, percentForm } from "../../../base/pure/percent.ts";
import { crashAfterLeastMs } from "../spec/rollout.ts";
import { canaryRules } from "./canary.ts";
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
  canaryRules(rollout, report);
  if (rollout.guard !== undefined) guardRules(rollout.guard, rollout, report);
}

const overLeastMs = 5_000;
const overMostMs = 600_000;

function guardRules(guard: NonNullable<Rollout["guard"]>, rollout: Rollout, report: Report): void {
  const path = "spec.rollout.guard";
  const { errors, p99, over } = guard;
  if (errors === undefined && p99 === undefined) {
    report(path, 'has no limit; write errors (such as "5%"), p99 (such as "800ms"), or both');
  }
  if (errors !== undefined) shareRule(errors, `${path}.errors`, report);
  durationRule(p99, `${path}.p99`, { report, aboveZero: true });
  durationRule(over, `${path}.over`, { report });
  const overMs = parseDuration(over ?? rolloutDefaults.guardOver);
  if (overMs === undefined) return;
  if (overMs < overLeastMs || overMs > overMostMs) report(`${path}.over`, `"${over}" must be from 5s to 10m`);
  const deadline = rollout.progress_deadline ?? rolloutDefaults.progressDeadline;
  if (overMs < (parseDuration(deadline) ?? Number.POSITIVE_INFINITY)) return;
  report(
    `${path}.over`,
    `"${over ?? rolloutDefaults.guardOver}" is not below progress_deadline ("${deadline}"), so every release would fail; write a longer progress_deadline`,
  );
}

function shareRule(text: string, path: string, report: Report): void {
  const share = parsePercent(text);
  if (share === undefined) report(path, `"${text}" is not a share; ${percentForm}`);
  else if (share === 1) report(path, `"${text}" can never be crossed; ${percentForm}`);
}
