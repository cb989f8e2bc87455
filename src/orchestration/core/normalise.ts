import type { WritableKind } from "../api/kinds/schemas.ts";
import { isFields } from "../../base/pure/fields.ts";
import type { Spec } from "../api/manifest.ts";

/** The spec as it is stored: what means the same is spelled the same, everything else stays as the user wrote it. */
export function normaliseSpec(kind: WritableKind, spec: Spec): Spec {
  if (kind !== "ingress" && kind !== "app") return spec;
  const { host, hosts, redirects } = spec;
  return {
    ...spec,
    ...(host === undefined ? {} : { host: lower(host) }),
    ...(Array.isArray(hosts) ? { hosts: hosts.map(lower) } : {}),
    ...(Array.isArray(redirects) ? { redirects: redirects.map(lowerRedirect) } : {}),
  };
}

function lowerRedirect(redirect: unknown): unknown {
  if (!isFields(redirect)) return redirect;
  const hosts = Object.entries(redirect).filter(([field]) => field === "from" || field === "to");
  return { ...redirect, ...Object.fromEntries(hosts.map(([field, host]) => [field, lower(host)])) };
}

function lower(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}
