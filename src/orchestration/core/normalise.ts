import type { WritableKind } from "../api/kinds/schemas.ts";
import type { Spec } from "../api/manifest.ts";

/** The spec as it is stored: what means the same is spelled the same, everything else stays as the user wrote it. */
export function normaliseSpec(kind: WritableKind, spec: Spec): Spec {
  if (kind !== "ingress" && kind !== "app") return spec;
  const { host, hosts } = spec;
  return {
    ...spec,
    ...(host === undefined ? {} : { host: lower(host) }),
    ...(Array.isArray(hosts) ? { hosts: hosts.map(lower) } : {}),
  };
}

function lower(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}
