import type { RoutingFields } from "../../api/kinds/routing.ts";
import { routingDefaults } from "../../api/kinds/routing-defaults.ts";
import type { Tls } from "../../api/kinds/tls.ts";
import { anyHost, hostsOf } from "../../../base/pure/hosts.ts";
import { MASK } from "../mask.ts";
import { isPluginName } from "../plugin-names.ts";
import type { Report, RuleContext } from "./rule.ts";
import { urlRule } from "./url.ts";

type Field = Exclude<keyof Tls, "enabled" | "provider">;
type Provider = NonNullable<Tls["provider"]>;

/** The providers that a field is for; a field without a row is for all of them. */
const providersOf: Partial<Record<Field, readonly Provider[]>> = {
  directory: ["acme"],
  directory_ca: ["acme"],
  eab: ["acme"],
  dns: ["letsencrypt", "letsencrypt_staging", "acme"],
  skip_checks: ["letsencrypt", "letsencrypt_staging", "acme"],
  certificate: ["file"],
  key: ["file"],
};

const required: Partial<Record<Provider, readonly Field[]>> = {
  acme: ["directory"],
  file: ["certificate", "key"],
};

/** Whether connections are encrypted: a `tls` block that is not switched off. */
export function hasTls(spec: Pick<RoutingFields, "tls">): boolean {
  return spec.tls !== undefined && spec.tls.enabled !== false;
}

/** Rules of `tls`, and of the fields that need it. */
export function tlsRules(spec: RoutingFields, context: RuleContext): void {
  const { report } = context;
  const { tls } = spec;
  if (!hasTls(spec)) {
    if (spec.https_redirect === true) report("spec.https_redirect", "needs tls; there is no https to redirect to");
    if (spec.hsts !== undefined) report("spec.hsts", "needs tls; browsers ignore it over plain HTTP");
  }
  if (tls === undefined) return;
  valueRules(tls, context);
  if (tls.enabled === false) return;
  providerRules(tls, report);
  wildcardRule(spec, tls, report);
  onDemandRules(spec, tls, report);
}

function valueRules(tls: Tls, { report, limits }: RuleContext): void {
  if (tls.directory !== undefined) urlRule(tls.directory, "spec.tls.directory", report);
  if (tls.dns !== undefined && !isPluginName(tls.dns)) {
    report("spec.tls.dns", `"${tls.dns}" is not a plugin name; write it as "berth plugins" shows it`);
  }
  for (const field of ["certificate", "key"] as const) {
    const path = tls[field];
    if (path === undefined || pathOk(path)) continue;
    report(`spec.tls.${field}`, `"${path}" is not an absolute path; write it like "/etc/ssl/shop.pem", without ".."`);
  }
  const most = limits.ingress.pemBytesMax;
  const root = tls.directory_ca;
  if (root !== undefined && (!pemOk(root) || root.length > most)) {
    report(
      "spec.tls.directory_ca",
      `is not PEM of a certificate; it begins with "-----BEGIN" and has at most ${most} bytes`,
    );
  }
  if (tls.eab !== undefined && tls.eab.hmac_key !== MASK && !/^[A-Za-z0-9_-]+=*$/.test(tls.eab.hmac_key)) {
    report("spec.tls.eab.hmac_key", "is not base64url; write it as the certificate authority shows it");
  }
}

function providerRules(tls: Tls, report: Report): void {
  const provider = tls.provider ?? routingDefaults.provider;
  for (const field of required[provider] ?? []) {
    if (tls[field] === undefined) report(`spec.tls.${field}`, `is required with provider ${provider}`);
  }
  for (const [field, providers] of Object.entries(providersOf)) {
    if (tls[field as Field] === undefined || providers.includes(provider)) continue;
    report(`spec.tls.${field}`, `is for provider ${providers.join(" or ")}; the provider here is ${provider}`);
  }
  if (provider === "file" && tls.on_demand === true) {
    report("spec.tls.on_demand", "excludes provider file, whose certificate is already there");
  }
}

/** Certificate authorities confirm wildcards over DNS only (RFC 8555, section 7.1.3). */
function wildcardRule(spec: RoutingFields, tls: Tls, report: Report): void {
  const provider = tls.provider ?? routingDefaults.provider;
  if (spec.plugin !== undefined) return;
  if (provider === "internal" || provider === "file" || tls.dns !== undefined || tls.on_demand === true) return;
  const wildcard = hostsOf(spec).find((host) => host.startsWith("*."));
  if (wildcard === undefined) return;
  report(
    "spec.tls.dns",
    `is required for "${wildcard}": wildcards are confirmed over DNS; name the plugin that writes the record`,
  );
}

function onDemandRules(spec: RoutingFields, tls: Tls, report: Report): void {
  if (tls.on_demand === true && tls.ask === undefined) {
    report(
      "spec.tls.ask",
      "is required with on_demand: the address that permits a name; without it, anyone could order",
    );
  }
  if (tls.on_demand !== true && hostsOf(spec).includes(anyHost)) {
    report("spec.tls.on_demand", 'is required for the host "*": a certificate is for names that are known');
  }
}

function pemOk(text: string): boolean {
  return text.startsWith("-----BEGIN ") && /^[\r\n -~]*$/.test(text);
}

function pathOk(text: string): boolean {
  return /^\/[!-~]+$/.test(text) && !text.split("/").includes("..");
}
