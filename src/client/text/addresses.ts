import { hostsOf } from "../../base/pure/hosts.ts";
import { isObject } from "../manifests/env-merge.ts";

/** Where the visitors of an ingress go: a URL for each host that is not a wildcard. */
export function addressesOf(spec: Record<string, unknown>): string[] {
  const scheme = isObject(spec.tls) && spec.tls.enabled !== false ? "https" : "http";
  return hostsOf(spec)
    .filter((host) => !host.startsWith("*"))
    .map((host) => `${scheme}://${host}`);
}
