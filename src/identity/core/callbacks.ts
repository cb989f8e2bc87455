import type { ProviderKind } from "../api/providers.ts";

interface CallbackOwner {
  kind: ProviderKind;
  name: string;
  /** Undefined: the provider is set for every instance. */
  instanceId: string | undefined;
}

const everywhere = "global";

/**
 * The path that a provider sends browsers back to. A built-in provider has one path for all instances
 * (docs/contract/identity.md, 1.1). Every OpenID Connect connection has its own: two instances may use one name for
 * different issuers, and an answer must never be taken for that of another one (RFC 9700 section 4.4).
 */
export function callbackPath({ kind, name, instanceId }: CallbackOwner): string {
  return kind === "oidc" ? `/oauth/oidc/${connectionId(instanceId, name)}/callback` : `/oauth/${kind}/callback`;
}

/** Names an OpenID Connect connection among all instances: `inst_….acme`, or `global.acme`. */
export function connectionId(instanceId: string | undefined, name: string): string {
  return `${instanceId ?? everywhere}.${name}`;
}
