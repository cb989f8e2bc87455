import type { Static, TObject } from "@sinclair/typebox";
import type { Problem } from "../../base/wire/failure.ts";
import { AppSpec } from "../api/kinds/app.ts";
import { AssetSpec } from "../api/kinds/asset.ts";
import { CronjobSpec } from "../api/kinds/cronjob.ts";
import { DeploymentSpec } from "../api/kinds/deployment.ts";
import { IngressSpec } from "../api/kinds/ingress.ts";
import { JobSpec } from "../api/kinds/job.ts";
import { RegistrySpec } from "../api/kinds/registry.ts";
import type { WritableKind } from "../api/kinds/schemas.ts";
import { StatefulsetSpec } from "../api/kinds/statefulset.ts";
import { appRules } from "./rules/app.ts";
import { assetRules } from "./rules/asset.ts";
import { deploymentRules } from "./rules/deployment.ts";
import { ingressRules } from "./rules/ingress.ts";
import { cronjobRules, jobRules } from "./rules/job.ts";
import { registryRules } from "./rules/registry.ts";
import { isTooLarge } from "../../base/wire/schema-repair.ts";
import type { RuleContext, ValidationLimits } from "./rules/rule.ts";
import { statefulsetRules } from "./rules/statefulset.ts";
import { type SchemaCheck, schemaCheck } from "../../base/wire/schema-check.ts";

const shapes = {
  deployment: schemaCheck(DeploymentSpec),
  statefulset: schemaCheck(StatefulsetSpec),
  ingress: schemaCheck(IngressSpec),
  job: schemaCheck(JobSpec),
  cronjob: schemaCheck(CronjobSpec),
  asset: schemaCheck(AssetSpec),
  registry: schemaCheck(RegistrySpec),
  app: schemaCheck(AppSpec),
};

/** Whether a spec has the fields of its kind, each of its type. */
export const specShapes: Record<WritableKind, (spec: unknown) => boolean> = {
  deployment: shapes.deployment.matches,
  statefulset: shapes.statefulset.matches,
  ingress: shapes.ingress.matches,
  job: shapes.job.matches,
  cronjob: shapes.cronjob.matches,
  asset: shapes.asset.matches,
  registry: shapes.registry.matches,
  app: shapes.app.matches,
};

/**
 * Everything that is wrong with a spec; paths start at `spec`. Where the shape is wrong, the rules on meaning judge the
 * rest: samples take the places of the faults, and what a rule says of these does not count.
 */
type SpecValidator = (spec: unknown, limits: ValidationLimits) => Problem[];

export const specValidators: Record<WritableKind, SpecValidator> = {
  deployment: validator(shapes.deployment, deploymentRules),
  statefulset: validator(shapes.statefulset, statefulsetRules),
  ingress: validator(shapes.ingress, ingressRules),
  job: validator(shapes.job, jobRules),
  cronjob: validator(shapes.cronjob, cronjobRules),
  asset: validator(shapes.asset, assetRules),
  registry: validator(shapes.registry, registryRules),
  app: validator(shapes.app, appRules),
};

function validator<T extends TObject>(
  check: SchemaCheck<T>,
  rules: (spec: Static<T>, context: RuleContext) => void,
): SpecValidator {
  return (spec, limits) => {
    const broken = (value: Static<T>) => {
      const problems: Problem[] = [];
      rules(value, { limits, report: (path, message) => problems.push({ path, message }) });
      return problems;
    };
    if (check.matches(spec)) return broken(spec);
    const wrong = check.problems(spec, "spec", limits.problemsShownMax + 1);
    if (wrong.length > limits.problemsShownMax) return wrong;
    const repaired = check.repaired(spec, "spec");
    if (repaired === undefined) return isTooLarge(spec) ? [...wrong, unjudged] : wrong;
    const [one, other] = repaired.values.map(broken);
    const faulty = [...repaired.paths, ...wrong.map(({ path }) => path)];
    const certain = one?.filter((problem) => {
      return other?.some((same) => isSame(problem, same)) && !faulty.some((path) => isNear(problem.path, path));
    });
    return [...wrong, ...(certain ?? [])];
  };
}

/** Said of a large spec, because its list of problems is not complete. */
const unjudged: Problem = {
  path: "spec",
  message: "is too large to check further while these are wrong: fix them, then apply again to see the rest",
};

function isSame(one: Problem, other: Problem): boolean {
  return one.path === other.path && one.message === other.message;
}

/** Whether one path is the other, or leads to it. */
export function isNear(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}
