import { type IngressSpec, planeNames } from "../../api/kinds/ingress.ts";
import { nameOk } from "../identity.ts";
import { hostRequired, routingRules } from "./routing.ts";
import type { Report, RuleContext } from "./rule.ts";

export function ingressRules(spec: IngressSpec, context: RuleContext): void {
  if (hostRequired(spec)) context.report("spec.host", "is required; write host, or hosts for several");
  serviceRules(spec, context.report);
  routingRules(spec, context);
}

function serviceRules(spec: IngressSpec, report: Report): void {
  const { service } = spec;
  if (service === undefined) return;
  if (!service.startsWith("@")) {
    if (!nameOk(service)) {
      report("spec.service", `"${service}" is not a resource name; name a resource in the same scope`);
    }
    return;
  }
  if (!planeNames.some((name) => name === service)) {
    report("spec.service", `"${service}" is not a part of the server; write ${planeNames.join(" or ")}`);
  }
  for (const field of ["port", "ordinal", "tcp", "protocol", "proxy_protocol"] as const) {
    if (spec[field] !== undefined) report(`spec.${field}`, `does not apply to ${service}, whose address is known`);
  }
}
