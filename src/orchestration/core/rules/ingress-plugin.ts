import { beyondPlugin, unfitTexts } from "../../api/kinds/ingress-plugin.ts";
import { policies, type RoutingFields, routingFields } from "../../api/kinds/routing.ts";
import { hostsOf } from "../../../base/pure/hosts.ts";
import { isPluginName } from "../plugin-names.ts";
import type { Report, RuleContext } from "./rule.ts";

/**
 * Rules of an ingress that names the plugin which routes it: a field beside it that would silently not apply contradicts
 * it. Where the server chooses the plugin, the manifest is right by itself, and its status says what cannot be served.
 */
export function ingressPluginRules(spec: RoutingFields, report: Report): void {
  const { plugin } = spec;
  if (plugin === undefined) return;
  if (!isPluginName(plugin)) {
    report("spec.plugin", `"${plugin}" is not a plugin name; write it as "berth plugins" shows it`);
  }
  if (hostsOf(spec).length === 0) report("spec.host", "is required with plugin");
  const routing = Object.entries(spec).filter(([field]) => Object.hasOwn(routingFields, field));
  for (const { path, message } of beyondPlugin(Object.fromEntries(routing))) report(path, message);
}

/** Texts that HAProxy reads in one way only, and that plugins write into files of their own. */
export function textRules(spec: RoutingFields, context: RuleContext): void {
  const unfit = unfitTexts({ lb: spec.lb, tls: spec.tls });
  for (const { path, message } of unfit) context.report(path, message);
  if (!unfit.some(({ path }) => path === "spec.lb.policy")) policyRule(spec, context);
}

/** HAProxy knows its policies; those of a plugin are its own words. */
function policyRule({ lb, plugin }: RoutingFields, { report, limits }: RuleContext): void {
  const policy = lb?.policy;
  if (policy === undefined) return;
  if (plugin !== undefined || limits.ingress.anyPolicy === true) return;
  if (policies.some((known) => known === policy)) return;
  report("spec.lb.policy", `"${policy}" is not one of ${policies.join(", ")}; only a plugin that routes takes others`);
}
