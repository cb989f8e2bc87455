import { rolloutDefaults } from "../../api/kinds/defaults.ts";
import type { Rollout } from "../../api/kinds/rollout.ts";
import { durationForm, formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import { parsePercent, percentForm } from "../../../base/pure/percent.ts";
import { crashAfterLeastMs, pauseForever } from "../spec/rollout.ts";
import { durationRule } from "./duration.ts";
import { eachEntry, type Report } from "./rule.ts";

const path = "spec.rollout.canary";

/** Below it, whole weights from 0 to 256 cannot share the requests of few replicas out. */
const shareLeast = 0.01;

/** Rules of `canary` and `keep` of a rollout block. */
function canaryRules({ canary, keep, strategy }: Rollout, report: Report): void {
  durationRule(keep, "spec.rollout.keep", { report });
  if (canary === undefined) {
    if (keep !== undefined) {
      report(
        "spec.rollout.keep",
        'needs canary, such as canary: ["100%"]; without steps the old replicas leave one by one',
      );
    }
    return;
  }
  if (strategy === "recreate") {
    report(path, 'needs old and new replicas at the same time; leave strategy "recreate" out');
  }
  let before = 0;
  eachEntry(canary, path, (step, at) => {
    const { weight, pause } = typeof step === "string" ? { weight: step, pause: undefined } : step;
    const weightPath = typeof step === "string" ? at : `${at}.weight`;
    const share = weightRule(weight, weightPath, report);
    if (share !== undefined && share <= before) {
      report(weightPath, `"${weight}" is not above the step before; each step takes a larger share of the requests`);
    }
    before = share ?? before;
    if (pause !== undefined && pause !== pauseForever && parseDuration(pause) === undefined) {
      report(`${at}.pause`, `"${pause}" is not a duration; ${durationForm}, or "${pauseForever}"`);
    }
  });
}

function weightRule(text: string, at: string, report: Report): number | undefined {
  const share = parsePercent(text);
  if (share === undefined) report(at, `"${text}" is not a share; ${percentForm}`);
  else if (share < shareLeast) report(at, `"${text}" must be from 1% to 100%`);
  return share;
}

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
