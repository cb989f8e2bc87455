import { type RoutingFields, routingFields } from "../../api/kinds/routing.ts";
import { isPluginName } from "../plugins/names.ts";
import type { Report } from "./rule.ts";

/** What the protocol of plugins carries; everything else would silently not apply. */
const carried = ["plugin", "host", "shared", "tls", "locations", "lb"];
const carriedOfTls = ["enabled", "provider", "email", "on_demand", "ask"];
const carriedProviders = ["letsencrypt", "letsencrypt_staging", "internal"];

/** Rules of an ingress that a plugin routes in place of the proxy. */
export function ingressPluginRules(spec: RoutingFields, report: Report): void {
  const { plugin, tls } = spec;
  if (plugin === undefined) return;
  if (!isPluginName(plugin)) {
    report("spec.plugin", `"${plugin}" is not a plugin name; write it as "berth plugins" shows it`);
  }
  if (spec.host === undefined) report("spec.host", "is required with plugin");
  const written: Record<string, unknown> = spec;
  for (const field of Object.keys(routingFields)) {
    if (written[field] === undefined || carried.includes(field)) continue;
    report(`spec.${field}`, "does not reach a plugin, which gets host, service, port, tls, locations and lb");
  }
  if (tls === undefined) return;
  if (tls.provider !== undefined && !carriedProviders.includes(tls.provider)) {
    report("spec.tls.provider", `${tls.provider} does not work with a plugin; write ${carriedProviders.join(", ")}`);
    return;
  }
  for (const [field, value] of Object.entries(tls)) {
    if (value === undefined || carriedOfTls.includes(field)) continue;
    report(`spec.tls.${field}`, `does not reach a plugin, which gets ${carriedOfTls.join(", ")} of tls`);
  }
}
