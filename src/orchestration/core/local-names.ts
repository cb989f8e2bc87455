import { anyHost, isLocalHost } from "../../base/pure/hosts.ts";
import type { CoreKind, ManifestKey, Spec } from "../api/manifest.ts";
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

/** Top-level domains that many programs have names under. Those that are common as scopes, such as shop, are left out. */
const outsideDomains = new Set(["com", "net", "org", "io", "dev", "app", "ai", "co", "cloud"]);

/** The warning for an app whose short name is a domain of the internet, which its scope hides from the containers. */
export function hiddenDomain({ kind, scope, name }: ManifestKey): string[] {
  if (!(kind === "deployment" || kind === "statefulset") || !outsideDomains.has(scope)) return [];
  const text = `scope: "${scope}" is a top-level domain too, so containers reach this app as ${name}.${scope}`;
  return [`${text}, and not the domain of that name; choose another scope if they need the domain`];
}
