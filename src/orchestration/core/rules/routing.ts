import { httpRoutingFields } from "../../api/kinds/routing-http.ts";
import { policies, type RoutingFields, routingFields } from "../../api/kinds/routing.ts";
import { anyHost, hostKey, hostOk, hostsOf, plainLocation, plainPath } from "../../../base/pure/hosts.ts";
import { isIpAddress } from "../../../base/pure/ip.ts";
import { durationRule } from "./duration.ts";
import { httpRoutingRules } from "./http-routing.ts";
import { type Report, reportRepeats, type RuleContext } from "./rule.ts";
import { hasTls, tlsRules } from "./tls.ts";
import { beyondPlugin, unfitTexts } from "../../api/kinds/ingress-plugin.ts";
import { isPluginName } from "../plugin-names.ts";

/** Whether an ingress would be without any way in. */
export function hostRequired(spec: RoutingFields): boolean {
  return spec.tcp === undefined && hostsOf(spec).length === 0;
}

/** Rules of the fields that an ingress and an `app` share. */
export function routingRules(spec: RoutingFields, context: RuleContext): void {
  const { report } = context;
  hostRules(spec, report);
  locationRules(spec, context);
  durationRule(spec.lb?.interval, "spec.lb.interval", { report, aboveZero: true });
  textRules(spec, context);
  tlsRules(spec, context);
  httpRoutingRules(spec, context);
  tcpRules(spec, report);
  ingressPluginRules(spec, report);
}

function hostRules(spec: RoutingFields, report: Report): void {
  const hosts = [
    ...(spec.host === undefined ? [] : [{ key: hostKey(spec.host), path: "spec.host" }]),
    ...(spec.hosts ?? []).map((host, index) => ({ key: hostKey(host), path: `spec.hosts[${index}]` })),
  ];
  for (const { key, path } of hosts) {
    if (hostOk(key) || key === anyHost) continue;
    report(
      path,
      `"${key}" is not a host name; write "app.example.com", "*.example.com" or "*", without scheme or port`,
    );
  }
  reportRepeats(hosts, "host", report);
}

function locationRules(spec: RoutingFields, { report, limits }: RuleContext): void {
  const locations = (spec.locations ?? []).map((location, index) => {
    const path = `spec.locations[${index}].path`;
    if (!locationOk(location.path)) {
      report(
        path,
        `"${location.path}" is not a path prefix; it starts with "/", without "..", "?", "#", spaces, control characters`,
      );
    } else if (plainPath(location.path) !== plainLocation(location.path)) {
      report(path, `"${location.path}" has a plainer form; write "${plainPath(location.path)}"`);
    } else if (location.path.length > limits.ingress.pathLengthMax) {
      report(path, `has ${location.path.length} characters; at most ${limits.ingress.pathLengthMax} are allowed`);
    }
    return { key: plainLocation(location.path), path };
  });
  reportRepeats(locations, "path", report);
  const routes = hostsOf(spec).length * Math.max(1, locations.length);
  const most = limits.ingress.routesMax;
  if (routes > most) {
    report("spec.locations", `hosts times locations are ${routes}; at most ${most} are allowed, split the ingress`);
  }
}

/** Printable ASCII only: clients send everything else percent-encoded. */
function locationOk(path: string): boolean {
  return /^\/[!-~]*$/.test(path) && !/[?#\\]|%[01]|%7f/i.test(path) && !path.split("/").includes("..");
}

const httpOnly = ["locations", "shared", ...Object.keys(httpRoutingFields)] as const;

function tcpRules(spec: RoutingFields, report: Report): void {
  if (spec.tcp === undefined) return;
  const fields: Record<string, unknown> = spec;
  for (const field of httpOnly) {
    if (fields[field] !== undefined) report(`spec.${field}`, "is for HTTP; it does not apply with tcp");
  }
  for (const field of ["body", "head", "timeout"] as const) {
    if (spec.limits?.[field] !== undefined) report(`spec.limits.${field}`, "is for HTTP; it does not apply with tcp");
  }
  const { address } = spec.tcp;
  if (address !== undefined && !isIpAddress(address)) {
    report("spec.tcp.address", `"${address}" is not an IP address; leave it out to listen on all addresses`);
  }
  const hosts = hostsOf(spec);
  if (!hasTls(spec)) {
    if (hosts.length > 0) report("spec.host", "needs tls with tcp; connections without TLS carry no host name");
    return;
  }
  if (hosts.length === 0) report("spec.host", "is required with tcp and tls: the name in the certificate");
  if (spec.tls?.on_demand === true) report("spec.tls.on_demand", "is for HTTP; it does not apply with tcp");
}

/**
 * Rules of an ingress that names the plugin which routes it: a field beside it that would silently not apply contradicts
 * it. Where the server chooses the plugin, the manifest is right by itself, and its status says what cannot be served.
 */
function ingressPluginRules(spec: RoutingFields, report: Report): void {
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
function textRules(spec: RoutingFields, context: RuleContext): void {
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
