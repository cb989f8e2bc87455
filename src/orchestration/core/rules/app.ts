import { durationForm, parseDuration } from "../../../base/pure/duration.ts";
import { hostOk } from "../../../base/pure/hosts.ts";
import type { AppSpec } from "../../api/kinds/app.ts";
import { routingFields } from "../../api/kinds/routing.ts";
import { deploymentRules } from "./deployment.ts";
import { hostRequired, routingRules } from "./routing.ts";
import type { RuleContext } from "./rule.ts";

/** Fields that make an app an ingress too. */
const waysIn = ["host", "hosts", "tcp"];

function previewRules({ preview }: AppSpec, { report }: RuleContext): void {
  if (preview?.ttl !== undefined && !((parseDuration(preview.ttl) ?? 0) > 0)) {
    report("spec.preview.ttl", `"${preview.ttl}" is not a length of time; ${durationForm}`);
  }
  const host = preview?.host?.replaceAll("{branch}", "x");
  if (host !== undefined && (host === preview?.host || !hostOk(host) || host.startsWith("*"))) {
    report("spec.preview.host", `"${preview?.host}" is not a host name with {branch} in it`);
  }
}

export function appRules(spec: AppSpec, context: RuleContext): void {
  deploymentRules(spec, context);
  routingRules(spec, context);
  previewRules(spec, context);
  if (!hostRequired(spec)) return;
  const fields: Record<string, unknown> = spec;
  for (const field of Object.keys(routingFields)) {
    if (waysIn.includes(field) || fields[field] === undefined) continue;
    context.report(`spec.${field}`, "needs a host; write host, or leave it out");
  }
}
