import type { ProviderKind, ProviderOptions } from "../api/providers.ts";

/** A provider as it is written down for an instance, or for all of them. */
export interface ProviderSetting {
  name: string;
  kind: ProviderKind;
  enabled: boolean;
  /** Undefined: the global ones are used. */
  clientId: string | undefined;
  clientSecret: string | undefined;
  options: ProviderOptions;
}

interface EffectiveProvider {
  name: string;
  kind: ProviderKind;
  clientId: string;
  clientSecret: string;
  options: ProviderOptions;
  /** Whose credentials these are. */
  source: "own" | "global";
}

/** Addresses that credentials are sent to, or that decide who somebody is. */
const endpointOptions = ["authorize_url", "token_url", "userinfo_url", "emails_url", "issuer"] as const;

/**
 * What an instance signs in with: its own credentials, else the global ones (docs/contract/identity.md, 1.3); undefined
 * where it is turned off or has none. Endpoints come from where the credentials come from: a global secret must never
 * reach an address that one instance has chosen.
 */
export function effectiveProvider(
  own: ProviderSetting | undefined,
  global: ProviderSetting | undefined,
): EffectiveProvider | undefined {
  if (own?.enabled === false) return undefined;
  if (own?.clientId !== undefined) return credentialed(own, "own");
  if (global === undefined || !global.enabled) return undefined;
  const shared = credentialed(global, "global");
  if (shared === undefined || own === undefined) return shared;
  return { ...shared, options: { ...shared.options, ...withoutEndpoints(own.options) } };
}

function credentialed(setting: ProviderSetting, source: "own" | "global"): EffectiveProvider | undefined {
  const { name, kind, clientId, clientSecret, options } = setting;
  if (clientId === undefined) return undefined;
  return { name, kind, clientId, clientSecret: clientSecret ?? "", options, source };
}

function withoutEndpoints(options: ProviderOptions): ProviderOptions {
  const kept = { ...options };
  for (const name of endpointOptions) delete kept[name];
  return kept;
}

/** The endpoints that a setting names itself. */
export function ownEndpoints(options: ProviderOptions): [string, string][] {
  return endpointOptions.flatMap((name) => {
    const url = options[name];
    return url === undefined ? [] : [[name, url] as [string, string]];
  });
}
