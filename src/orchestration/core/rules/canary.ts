import type { Rollout } from "../../api/kinds/rollout.ts";
import { durationForm, parseDuration } from "../../../base/pure/duration.ts";
import { parsePercent, percentForm } from "../../../base/pure/percent.ts";
import { pauseForever } from "../spec/rollout.ts";
import { durationRule } from "./duration.ts";
import { eachEntry, type Report } from "./rule.ts";

const path = "spec.rollout.canary";

/** Below it, whole weights from 0 to 256 cannot share the requests of few replicas out. */
const shareLeast = 0.01;

/** Rules of `canary` and `keep` of a rollout block. */
export function canaryRules({ canary, keep, strategy }: Rollout, report: Report): void {
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
