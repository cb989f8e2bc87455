import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import type { Spec } from "../api/manifest.ts";
import type { Reservation } from "./reservation.ts";
import { appId } from "./naming.ts";
import { decodeSpec } from "./spec/decode.ts";
import type { DecodedIngress, DecodedTcp } from "./spec/ingress.ts";

interface Ingress {
  scope: string;
  name: string;
  spec: Spec;
}

/**
 * What an ingress reserves: each host with each path, or a TCP port, with TLS only a name on it. Two ingresses may share a host with different
 * paths, but not one that is redirected as a whole, and only with the same settings for its certificate. Ingresses of
 * several scopes share a host only where all of them say so.
 */
export function ingressReservations({ scope, name, spec }: Ingress): Reservation[] {
  const owner = `ingress/${scope}/${name}`;
  const ingress = decodeSpec("ingress", spec);
  const { hosts, paths, redirected, isShared, plugin } = ingress;
  if (ingress.tcp !== undefined)
    return [...portReservations(ingress, ingress.tcp, owner), ...tlsReservations(ingress, hosts)];
  return [
    ...hosts.flatMap((host) => paths.map((path) => ({ name: `host:${host}${path}`, owner }))),
    ...hosts.map((host) => ({ name: `domain:${host}`, owner: "served" })),
    ...redirected.map((host) => ({ name: `domain:${host}`, owner })),
    ...hosts.map((host) => ({ name: `share:${host}`, owner: isShared ? "shared" : `scope:${scope}` })),
    ...tlsReservations(ingress, [...hosts, ...redirected]),
    // A plugin knows an ingress by scope and name in one word: two could mean the same.
    ...(plugin === undefined ? [] : [{ name: `route:${plugin}/${appId(scope, name)}`, owner }]),
  ];
}

/** A host and a wildcard above it; `share` is in conflict where the wildcard belongs to another scope. */
interface BelowWildcard {
  host: string;
  wildcard: string;
  share: Reservation;
}

/**
 * The wildcards that may stand above the hosts of an ingress. A scope that has one receives the requests for all names
 * below it, so another scope takes such a name only where both share, as with a host itself. The host `*` is the rest
 * that anybody may take from.
 */
export function wildcardsAbove({ scope, spec }: Ingress): BelowWildcard[] {
  const { hosts, redirected, isShared, tcp } = decodeSpec("ingress", spec);
  if (tcp !== undefined) return [];
  const owner = isShared ? "shared" : `scope:${scope}`;
  return [...new Set([...hosts, ...redirected])].flatMap((host) =>
    parentsOf(host).map((parent) => {
      const wildcard = `*.${parent}`;
      return { host, wildcard, share: { name: `share:${wildcard}`, owner } };
    }),
  );
}

/** `b.test` and `test` of `a.b.test` and of `*.a.b.test`. */
function parentsOf(host: string): string[] {
  const labels = host.replace(/^\*\./, "").split(".");
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join("."));
}

/** Ingresses with TLS share a port on one address: the name that a client asks for says which of them it means. */
function portReservations({ hosts, tls }: DecodedIngress, { port, address }: DecodedTcp, owner: string): Reservation[] {
  if (port === undefined) return [];
  const [name] = tls === undefined ? [] : hosts;
  if (name === undefined) return [{ name: `tcp:${port}`, owner }];
  return [
    { name: `tcp:${port}`, owner: `names:${address}` },
    { name: `tcp:${port}/${name}`, owner },
  ];
}

/**
 * The owner is a digest of the settings: ingresses with the same ones share the host, and no secret is stored. The
 * contact may differ: it does not change the certificate.
 */
function tlsReservations({ tls }: DecodedIngress, hosts: readonly string[]): Reservation[] {
  if (tls === undefined) return [];
  const owner = `tls:${sha256Hex(canonicalJson({ ...tls.settings, email: undefined }))}`;
  return [...new Set(hosts)].map((host) => ({ name: `tls:${host}`, owner }));
}
