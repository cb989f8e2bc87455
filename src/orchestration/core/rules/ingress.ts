import type { IngressSpec } from "../../api/kinds/ingress.ts";
import type { RoutingFields } from "../../api/kinds/routing.ts";
import { hostOk, hostsOf, plainLocation } from "../../../base/pure/hosts.ts";
import { nameOk } from "../identity.ts";
import { durationRule } from "./duration.ts";
import { type Report, type RuleContext, reportRepeats } from "./rule.ts";
import { urlRule } from "./url.ts";

/** Each host with each path is one entry in the routing table. */
const routesMax = 1_000;

export function ingressRules(spec: IngressSpec, { report }: RuleContext): void {
  if (hostsOf(spec).length === 0) report("spec.host", "is required; write host, or hosts for several");
  if (spec.service !== undefined && !nameOk(spec.service)) {
    report("spec.service", `"${spec.service}" is not a resource name; name a resource in the same scope`);
  }
  routingRules(spec, report);
}

/** Rules of the fields that an ingress and an `app` share. */
export function routingRules(spec: RoutingFields, report: Report): void {
  hostRules(spec, report);
  const locations = (spec.locations ?? []).map((location, index) => {
    const path = `spec.locations[${index}].path`;
    if (!locationOk(location.path)) {
      report(path, `"${location.path}" is not a path prefix; it starts with "/", without "..", "?", "#", spaces`);
    }
    return { key: plainLocation(location.path), path };
  });
  reportRepeats(locations, "path", report);
  const routes = hostsOf(spec).length * Math.max(1, locations.length);
  if (routes > routesMax) {
    report(
      "spec.locations",
      `hosts times locations are ${routes}; at most ${routesMax} are allowed, split the ingress`,
    );
  }
  durationRule(spec.lb?.interval, "spec.lb.interval", { report, aboveZero: true });
  if (spec.tls?.ask !== undefined) urlRule(spec.tls.ask, "spec.tls.ask", report);
  if (spec.tls?.email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(spec.tls.email)) {
    report("spec.tls.email", `"${spec.tls.email}" is not a mail address`);
  }
}

function hostRules(spec: RoutingFields, report: Report): void {
  const hosts = [
    ...(spec.host === undefined ? [] : [{ key: spec.host.toLowerCase(), path: "spec.host" }]),
    ...(spec.hosts ?? []).map((host, index) => ({ key: host.toLowerCase(), path: `spec.hosts[${index}]` })),
  ];
  for (const { key, path } of hosts) {
    if (hostOk(key)) continue;
    report(path, `"${key}" is not a host name; write "app.example.com" or "*.example.com", without scheme or port`);
  }
  reportRepeats(hosts, "host", report);
}

function locationOk(path: string): boolean {
  return path.startsWith("/") && !/[\s?#\\]/.test(path) && !path.split("/").includes("..");
}
