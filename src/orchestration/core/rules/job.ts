import type { CronjobSpec } from "../../api/kinds/cronjob.ts";
import type { JobSpec } from "../../api/kinds/job.ts";
import { scheduleFault, timezoneFault } from "../schedule.ts";
import { containerRules } from "./container.ts";
import { durationRule } from "./duration.ts";
import { noNetworkAliasRule } from "./network.ts";
import type { RuleContext } from "./rule.ts";

const labelKeyPattern = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,126}[A-Za-z0-9])?$/;

export function jobRules(spec: JobSpec, context: RuleContext): void {
  jobFieldRules(spec, "spec", context);
}

export function cronjobRules(spec: CronjobSpec, context: RuleContext): void {
  const { report } = context;
  const schedule = scheduleFault(spec.schedule);
  if (schedule !== undefined) report("spec.schedule", schedule);
  const timezone = spec.timezone === undefined ? undefined : timezoneFault(spec.timezone);
  if (timezone !== undefined) report("spec.timezone", timezone);
  durationRule(spec.starting_deadline, "spec.starting_deadline", { report, aboveZero: true });
  jobFieldRules(spec.job, "spec.job", context);
}

function jobFieldRules(spec: JobSpec, path: string, context: RuleContext): void {
  const { report } = context;
  containerRules(spec, path, context);
  noNetworkAliasRule(spec.docker_options, `${path}.docker_options`, report);
  durationRule(spec.timeout, `${path}.timeout`, { report, aboveZero: true });
  for (const key of Object.keys(spec.labels ?? {})) {
    if (!labelKeyPattern.test(key)) report(`${path}.labels`, `"${key}" is not a label key`);
  }
}
