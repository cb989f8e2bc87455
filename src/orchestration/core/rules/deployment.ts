import type { Autoscale } from "../../api/kinds/autoscale.ts";
import type { DeploymentSpec } from "../../api/kinds/deployment.ts";
import type { Release } from "../../api/kinds/release.ts";
import { parsePort, portTexts, tooManyPorts } from "../ports.ts";
import { backupRules } from "./backup.ts";
import { durationRule } from "./duration.ts";
import { webhookRules } from "./webhooks.ts";
import { podRules } from "./pod.ts";
import { requestPathOk } from "./probes.ts";
import type { Report, RuleContext } from "./rule.ts";

export function deploymentRules(spec: DeploymentSpec, context: RuleContext): void {
  const { report } = context;
  podRules(spec, spec.autoscale?.max ?? spec.replicas ?? 1, context);
  if (spec.autoscale !== undefined) {
    if (spec.replicas !== undefined) report("spec.replicas", "excludes autoscale; keep one of the two");
    autoscaleRules(spec.autoscale, context);
  }
  if (spec.health_check !== undefined && !requestPathOk(spec.health_check)) {
    report(
      "spec.health_check",
      `"${spec.health_check}" must start with "/", without spaces and control characters; a command belongs to probes.readiness.exec`,
    );
  }
  backupRules(spec, context);
  sleepRules(spec, report);
  if (spec.release !== undefined) releaseRules(spec.release, report);
  webhookRules(spec.on_deploy ?? {}, "spec.on_deploy", report);
  rollingRule(spec, report);
}

function autoscaleRules(autoscale: Autoscale, { report, limits }: RuleContext): void {
  const { min, max } = autoscale;
  if (max < min) report("spec.autoscale.max", `is ${max}, below min, which is ${min}`);
  if (min > limits.replicasMax) report("spec.autoscale.min", `must be at most ${limits.replicasMax}, got ${min}`);
  if (max > limits.replicasMax) report("spec.autoscale.max", `must be at most ${limits.replicasMax}, got ${max}`);
  durationRule(autoscale.cooldown_up, "spec.autoscale.cooldown_up", { report });
  durationRule(autoscale.cooldown_down, "spec.autoscale.cooldown_down", { report });
}

function sleepRules({ wake, idle_after }: DeploymentSpec, report: Report): void {
  durationRule(idle_after, "spec.idle_after", { report });
  if (idle_after !== undefined && wake !== true)
    report("spec.idle_after", "needs wake: true; without it nothing sleeps");
}

function releaseRules(release: Release, report: Report): void {
  const steps = ["pre_command", "command", "post_command"] as const;
  for (const step of steps) {
    if (release[step]?.length === 0) report(`spec.release.${step}`, "must not be empty; leave it out for no step");
  }
  if (steps.every((step) => release[step] === undefined)) {
    report("spec.release", "has no command; write command, pre_command or post_command");
  }
  durationRule(release.timeout, "spec.release.timeout", { report, aboveZero: true });
}

/** A new replica could not start before the old one has released its port. */
function rollingRule({ rollout = {}, ...spec }: DeploymentSpec, report: Report): void {
  if (rollout.strategy !== "rolling" && rollout.canary === undefined) return;
  const ports = spec.ports ?? [];
  if (tooManyPorts(ports) !== undefined) return;
  const fixed = ports.flatMap(portTexts).flatMap((text) => {
    const port = parsePort(text);
    return port.ok && port.value.hostPort !== undefined ? [port.value.hostPort] : [];
  });
  if (fixed.length > 0 && rollout.canary !== undefined) {
    report("spec.rollout.canary", `cannot work with the fixed host port ${fixed[0]}, which only one replica can hold`);
  } else if (fixed.length > 0) {
    report("spec.rollout.strategy", `"rolling" cannot work with the fixed host port ${fixed[0]}; write "recreate"`);
  }
}
