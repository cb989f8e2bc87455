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
import type { RuleContext, ValidationLimits } from "./rules/rule.ts";
import { statefulsetRules } from "./rules/statefulset.ts";
import { schemaCheck } from "../../base/wire/schema-check.ts";

/** Everything that is wrong with a spec; paths start at `spec`. The rules on meaning run once the shape is right. */
type SpecValidator = (spec: unknown, limits: ValidationLimits) => Problem[];

export const specValidators: Record<WritableKind, SpecValidator> = {
  deployment: validator(DeploymentSpec, deploymentRules),
  statefulset: validator(StatefulsetSpec, statefulsetRules),
  ingress: validator(IngressSpec, ingressRules),
  job: validator(JobSpec, jobRules),
  cronjob: validator(CronjobSpec, cronjobRules),
  asset: validator(AssetSpec, assetRules),
  registry: validator(RegistrySpec, registryRules),
  app: validator(AppSpec, appRules),
};

function validator<T extends TObject>(
  schema: T,
  rules: (spec: Static<T>, context: RuleContext) => void,
): SpecValidator {
  const check = schemaCheck(schema);
  return (spec, limits) => {
    if (!check.matches(spec)) return check.problems(spec, "spec", limits.problemsShownMax + 1);
    const problems: Problem[] = [];
    rules(spec, { limits, report: (path, message) => problems.push({ path, message }) });
    return problems;
  };
}
