import { hostsOf } from "../../base/pure/hosts.ts";
import type { IngressStatus } from "../../ingress/api/ingress.ts";
import { isFields } from "../../base/pure/fields.ts";

/** Where the proxy listens: `host:port` each. */
export type Listen = IngressStatus["proxy"]["listen"];

/**
 * Where the visitors of an ingress go: a URL for each host that is not a wildcard, with the port where it is not that
 * of the scheme. What a plugin routes does not pass the proxy.
 */
export function addressesOf(spec: Record<string, unknown>, listen: Listen | undefined): string[] {
  const isSecure = isFields(spec.tls) && spec.tls.enabled !== false;
  return hostsOf(spec)
    .filter((host) => !host.startsWith("*"))
    .map((host) => siteAddress(host, isSecure, spec.plugin === undefined ? listen : undefined));
}

/** `https://shop.example.com`, `https://shop.localhost:8443`. Without `listen`, or where that is off, without a port. */
export function siteAddress(host: string, isSecure: boolean, listen: Listen | undefined): string {
  const [scheme, standard] = isSecure ? (["https", "443"] as const) : (["http", "80"] as const);
  const ports = (listen?.[scheme] ?? []).map((address) => /:(\d+)$/.exec(address)?.[1] ?? standard);
  const [port = standard] = ports;
  return `${scheme}://${host}${ports.includes(standard) || port === standard ? "" : `:${port}`}`;
}
