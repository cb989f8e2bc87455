import type { AppSpec } from "../../api/kinds/app.ts";
import { routingFields } from "../../api/kinds/routing.ts";
import { deploymentRules } from "./deployment.ts";
import { hostRequired, routingRules } from "./routing.ts";
import type { RuleContext } from "./rule.ts";

/** Fields that make an app an ingress too. */
const waysIn = ["host", "hosts", "tcp"];

export function appRules(spec: AppSpec, context: RuleContext): void {
  deploymentRules(spec, context);
  routingRules(spec, context);
  if (!hostRequired(spec)) return;
  const fields: Record<string, unknown> = spec;
  for (const field of Object.keys(routingFields)) {
    if (waysIn.includes(field) || fields[field] === undefined) continue;
    context.report(`spec.${field}`, "needs a host; write host, or leave it out");
  }
}
