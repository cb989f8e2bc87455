import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import type { Spec } from "../api/manifest.ts";
import type { Claim } from "./claim.ts";
import { appId } from "./naming.ts";
import { decodeSpec } from "./spec/decode.ts";
import type { DecodedIngress, DecodedTcp } from "./spec/ingress.ts";

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
  const ingress = decodeSpec("ingress", spec);
  const { hosts, paths, redirected, isShared, plugin } = ingress;
  if (ingress.tcp !== undefined) return [...portClaims(ingress, ingress.tcp, owner), ...tlsClaims(ingress, hosts)];
  return [
    ...hosts.flatMap((host) => paths.map((path) => ({ claim: `host:${host}${path}`, owner }))),
    ...hosts.map((host) => ({ claim: `domain:${host}`, owner: "served" })),
    ...redirected.map((host) => ({ claim: `domain:${host}`, owner })),
    ...hosts.map((host) => ({ claim: `share:${host}`, owner: isShared ? "shared" : `scope:${scope}` })),
    ...tlsClaims(ingress, [...hosts, ...redirected]),
    // A plugin knows an ingress by scope and name in one word: two could mean the same.
    ...(plugin === undefined ? [] : [{ claim: `route:${plugin}/${appId(scope, name)}`, owner }]),
  ];
}

/** Ingresses with TLS share a port on one address: the name that a client asks for says which of them it means. */
function portClaims({ hosts, tls }: DecodedIngress, { port, address }: DecodedTcp, owner: string): Claim[] {
  if (port === undefined) return [];
  const [name] = tls === undefined ? [] : hosts;
  if (name === undefined) return [{ claim: `tcp:${port}`, owner }];
  return [
    { claim: `tcp:${port}`, owner: `names:${address}` },
    { claim: `tcp:${port}/${name}`, owner },
  ];
}

/**
 * The owner is a digest of the settings: ingresses with the same ones share the host, and no secret is stored. The
 * contact may differ: it does not change the certificate.
 */
function tlsClaims({ tls }: DecodedIngress, hosts: readonly string[]): Claim[] {
  if (tls === undefined) return [];
  const owner = `tls:${sha256Hex(canonicalJson({ ...tls.settings, email: undefined }))}`;
  return [...new Set(hosts)].map((host) => ({ claim: `tls:${host}`, owner }));
}
