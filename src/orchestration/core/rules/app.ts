import type { AppSpec } from "../../api/kinds/app.ts";
import { hostsOf } from "../../../base/pure/hosts.ts";
import { deploymentRules } from "./deployment.ts";
import { routingRules } from "./ingress.ts";
import type { RuleContext } from "./rule.ts";

export function appRules(spec: AppSpec, context: RuleContext): void {
  deploymentRules(spec, context);
  routingRules(spec, context.report);
  if (hostsOf(spec).length > 0) return;
  for (const field of ["tls", "locations", "lb"] as const) {
    if (spec[field] !== undefined) context.report(`spec.${field}`, "needs a host; write host, or leave it out");
  }
}
