import { anyHost, hostOk } from "../../../base/pure/hosts.ts";
import { hasTls, type IngressManifest, readIngress } from "../ingress-spec.ts";
import { issuerOf } from "./asked.ts";
import type { Issuer } from "./wanted.ts";

/** What a host may have issued on demand. */
interface OnDemandRule {
  issuer: Issuer;
  /** Address that decides whether a name gets a certificate. */
  ask: string;
}

/** Host of an ingress, wildcard or `*` → its rule; undefined where certificates are not issued on demand. */
export type OnDemandRules = ReadonlyMap<string, OnDemandRule | undefined>;

/** The hosts of all ingresses. A host that several share has the settings of the first. */
export function onDemandRules(ingresses: readonly IngressManifest[]): OnDemandRules {
  const rules = new Map<string, OnDemandRule | undefined>();
  const ordered = ingresses.toSorted((a, b) => (`${a.scope}/${a.name}` < `${b.scope}/${b.name}` ? -1 : 1));
  for (const manifest of ordered) {
    const { hosts, options } = readIngress(manifest);
    const rule = ruleOf(manifest);
    for (const host of hosts) if (!rules.has(host)) rules.set(host, isOpen(host) ? rule : undefined);
    for (const { from } of options.redirects) if (!rules.has(from)) rules.set(from, undefined);
  }
  return rules;
}

/** Whether certificates of any host are issued on demand. */
export function hasOnDemand(rules: OnDemandRules): boolean {
  return [...rules.values()].some((rule) => rule !== undefined);
}

/** The rule of a name: that of the host which its requests reach. Undefined for names that no rule lets in. */
export function ruleFor(name: string, rules: OnDemandRules): OnDemandRule | undefined {
  if (!hostOk(name) || name.startsWith("*.") || !name.includes(".") || isNumeric(name) || rules.has(name))
    return undefined;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const wildcard = `*${name.slice(dot)}`;
    if (rules.has(wildcard)) return rules.get(wildcard);
  }
  return rules.get(anyHost);
}

/** The address of the question for one name. */
export function questionFor(ask: string, name: string): string {
  const url = new URL(ask);
  url.searchParams.set("domain", name);
  return url.href;
}

function isOpen(host: string): boolean {
  return host === anyHost || host.startsWith("*.");
}

function ruleOf(manifest: IngressManifest): OnDemandRule | undefined {
  const { spec, isIssuerKnown } = readIngress(manifest);
  const { tls } = spec;
  if (tls?.on_demand !== true || tls.ask === undefined || !hasTls(spec) || !isIssuerKnown) return undefined;
  const issuer = issuerOf(tls);
  if (issuer === undefined || issuer.kind === "file" || !URL.canParse(tls.ask)) return undefined;
  return { issuer, ask: tls.ask };
}

/** An IP address is not a name of a certificate here. */
function isNumeric(name: string): boolean {
  return /^[0-9.]+$/.test(name);
}
