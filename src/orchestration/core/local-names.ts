import { anyHost, isLocalHost } from "../../base/pure/hosts.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { decodeSpec } from "./spec/decode.ts";

/** The warning for hosts whose certificate Let's Encrypt would refuse; empty when there are none, or a plugin routes them. */
export function uncertifiedHosts(kind: CoreKind, spec: Spec): string[] {
  if (kind !== "ingress") return [];
  const { plugin, tls, hosts: written } = decodeSpec(kind, spec);
  if (plugin !== undefined || !(tls?.provider === "letsencrypt" || tls?.provider === "letsencrypt_staging")) return [];
  const hosts = written.filter((host) => host !== anyHost && isLocalHost(host));
  if (hosts.length === 0) return [];
  return [
    `tls: Let's Encrypt certifies public domains only, not ${hosts.join(", ")}; write tls: { provider: internal }`,
  ];
}
