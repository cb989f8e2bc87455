import { anyHost, hostsOf, isLocalHost } from "../../base/pure/hosts.ts";
import { routingDefaults } from "../api/kinds/routing-defaults.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { fieldsOf } from "./lenient.ts";

/** The warning for hosts whose certificate Let's Encrypt would refuse; empty when there are none, or a plugin routes them. */
export function uncertifiedHosts(kind: CoreKind, spec: Spec): string[] {
  if (kind !== "ingress" || spec.plugin !== undefined || spec.tls === undefined) return [];
  const { enabled, provider = routingDefaults.provider } = fieldsOf(spec.tls);
  if (enabled === false || !(provider === "letsencrypt" || provider === "letsencrypt_staging")) return [];
  const hosts = hostsOf(spec).filter((host) => host !== anyHost && isLocalHost(host));
  if (hosts.length === 0) return [];
  return [
    `tls: Let's Encrypt certifies public domains only, not ${hosts.join(", ")}; write tls: { provider: internal }`,
  ];
}
