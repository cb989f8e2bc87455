import type { Spec } from "../api/manifest.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { textOf } from "./lenient.ts";
import type { CronLook, CronSchedule } from "./plan/cron.ts";

const policies = ["Forbid", "Replace"] as const;

/** When a stored cron job fires. */
export function scheduleOf(spec: Spec): CronSchedule & { suspended: boolean } {
  return {
    expression: textOf(spec.schedule) ?? "",
    timezone: textOf(spec.timezone) ?? "UTC",
    suspended: spec.suspend === true,
  };
}

/** What a stored cron job says about instants that are late or meet a run under way. */
export function policyOf(spec: Spec): Pick<CronLook, "policy" | "startingDeadlineMs"> {
  return {
    policy: policies.find((policy) => policy === spec.concurrency_policy) ?? "Allow",
    startingDeadlineMs: parseDuration(textOf(spec.starting_deadline) ?? ""),
  };
}
