import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { hostsOf, plainLocation } from "../../base/pure/hosts.ts";
import { routingDefaults } from "../api/kinds/routing-defaults.ts";
import type { Spec } from "../api/manifest.ts";
import type { Claim } from "./claim.ts";
import { appId } from "./naming.ts";
import { integerOf, isFields, listOf, textOf } from "./lenient.ts";

interface Ingress {
  scope: string;
  name: string;
  spec: Spec;
}

/**
 * What an ingress occupies: each host with each path, or a TCP port, with TLS only a name on it. Two ingresses may share a host with different
 * paths, but not one that is redirected as a whole, and only with the same settings for its certificate. Ingresses of
 * several scopes share a host only where all of them say so.
 */
export function ingressClaims({ scope, name, spec }: Ingress): Claim[] {
  const owner = `ingress/${scope}/${name}`;
  if (isFields(spec.tcp)) return [...portClaims(spec, spec.tcp, owner), ...tlsClaims(spec, hostsOf(spec))];
  const served = hostsOf(spec);
  const redirected = listOf(spec.redirects).flatMap(({ from }) => textOf(from)?.toLowerCase() ?? []);
  return [
    ...served.flatMap((host) => pathsOf(spec).map((path) => ({ claim: `host:${host}${path}`, owner }))),
    ...served.map((host) => ({ claim: `domain:${host}`, owner: "served" })),
    ...redirected.map((host) => ({ claim: `domain:${host}`, owner })),
    ...served.map((host) => ({ claim: `share:${host}`, owner: spec.shared === true ? "shared" : `scope:${scope}` })),
    ...tlsClaims(spec, [...served, ...redirected]),
    ...pluginClaims({ scope, name, spec }, owner),
  ];
}

/** A plugin knows an ingress by scope and name in one word: two could mean the same. */
function pluginClaims({ scope, name, spec }: Ingress, owner: string): Claim[] {
  const plugin = textOf(spec.plugin) ?? "";
  return plugin === "" ? [] : [{ claim: `route:${plugin}/${appId(scope, name)}`, owner }];
}

function pathsOf(spec: Spec): string[] {
  const written = listOf(spec.locations).map((location) => plainLocation(textOf(location.path) ?? "/"));
  return written.length === 0 ? ["/"] : [...new Set(written)];
}

/** Ingresses with TLS share a port on one address: the name that a client asks for says which of them it means. */
function portClaims(spec: Spec, tcp: Record<string, unknown>, owner: string): Claim[] {
  const port = integerOf(tcp.port);
  if (port === undefined) return [];
  const [name] = hasTls(spec) ? hostsOf(spec) : [];
  if (name === undefined) return [{ claim: `tcp:${port}`, owner }];
  const address = textOf(tcp.address) ?? "";
  return [
    { claim: `tcp:${port}`, owner: `names:${address}` },
    { claim: `tcp:${port}/${name}`, owner },
  ];
}

const hasTls = ({ tls }: Spec): boolean => isFields(tls) && tls.enabled !== false;

/**
 * The owner is a digest of the settings: ingresses with the same ones share the host, and no secret is stored. The
 * contact may differ: it does not change the certificate.
 */
function tlsClaims(spec: Spec, hosts: readonly string[]): Claim[] {
  if (!isFields(spec.tls) || !hasTls(spec)) return [];
  const { provider = routingDefaults.provider, on_demand } = spec.tls;
  const settings = { ...spec.tls, provider, on_demand: on_demand === true, enabled: true, email: undefined };
  const owner = `tls:${sha256Hex(canonicalJson(settings))}`;
  return [...new Set(hosts)].map((host) => ({ claim: `tls:${host}`, owner }));
}
