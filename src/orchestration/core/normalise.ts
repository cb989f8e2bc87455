import type { WritableKind } from "../api/kinds/schemas.ts";
import { hostKey } from "../../base/pure/hosts.ts";
import { isFields } from "../../base/pure/fields.ts";
import type { Spec } from "../api/manifest.ts";

/** The spec as it is stored: what means the same is spelled the same, everything else stays as the user wrote it. */
export function normaliseSpec(kind: WritableKind, spec: Spec): Spec {
  if (kind !== "ingress" && kind !== "app") return spec;
  const { host, hosts, redirects } = spec;
  return {
    ...spec,
    ...(host === undefined ? {} : { host: hostOf(host) }),
    ...(Array.isArray(hosts) ? { hosts: hosts.map(hostOf) } : {}),
    ...(Array.isArray(redirects) ? { redirects: redirects.map(redirectOf) } : {}),
  };
}

function redirectOf(redirect: unknown): unknown {
  if (!isFields(redirect)) return redirect;
  const hosts = Object.entries(redirect).filter(([field]) => field === "from" || field === "to");
  return { ...redirect, ...Object.fromEntries(hosts.map(([field, host]) => [field, hostOf(host)])) };
}

function hostOf(value: unknown): unknown {
  return typeof value === "string" ? hostKey(value) : value;
}
