import type { Problem } from "../../base/wire/failure.ts";
import { builtInProviders, type ProviderKind, ProviderOptions } from "../api/providers.ts";
import { schemaCheck } from "../../base/wire/schema-check.ts";
import { ownEndpoints, type ProviderSetting } from "./providers.ts";

const check = schemaCheck(ProviderOptions);
const problemsMax = 20;
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;

/** Names that paths and sessions use for something else. */
const reserved = new Set(["oidc", "password", "email"]);

/** The kind that goes with a name: the built-in ones are known by it, any other is an oidc connection. */
export function kindOfProvider(name: string): ProviderKind {
  return builtInProviders.find((known) => known === name) ?? "oidc";
}

export function providerNameProblem(name: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return "use lower-case letters, digits and dashes, at most 40";
  return reserved.has(name) ? `"${name}" has a meaning of its own: name it after who runs it` : undefined;
}

/** Options after a change: null puts one back to its default. */
export function changedOptions(
  present: ProviderOptions,
  change: Record<string, unknown>,
): { options: ProviderOptions; problems: Problem[] } {
  const merged: Record<string, unknown> = { ...present, ...change };
  for (const [name, value] of Object.entries(change)) {
    if (value === null && Object.hasOwn(ProviderOptions.properties, name)) delete merged[name];
  }
  const candidate: unknown = merged;
  if (!check.matches(candidate))
    return { options: present, problems: check.problems(candidate, "options", problemsMax) };
  return { options: candidate, problems: [] };
}

/**
 * What is wrong with a provider's setting as a whole. `closedHost` says whether a host is inside the machine or its
 * networks; with `allowPrivate` such hosts and plain http are fine.
 */
export function providerProblems(
  setting: ProviderSetting,
  { allowPrivate, closedHost }: { allowPrivate: boolean; closedHost: (host: string) => boolean },
): Problem[] {
  const { kind, options, clientId, clientSecret } = setting;
  const endpoints = ownEndpoints(options);
  const problems = endpoints.flatMap(([name, url]) => {
    const message = endpointProblem(url, allowPrivate, closedHost);
    return message === undefined ? [] : [{ path: `options.${name}`, message }];
  });
  const report = (path: string, message: string) => problems.push({ path, message });
  if (clientSecret !== undefined && clientId === undefined) report("client_secret", "needs a client_id beside it");
  if (endpoints.length > 0 && clientId === undefined) {
    report("options", "endpoints need a client_id and client_secret of their own: the global ones stay with theirs");
  }
  const needsIssuer = kind === "oidc" && clientId !== undefined && options.issuer === undefined;
  if (needsIssuer && (options.authorize_url === undefined || options.token_url === undefined)) {
    report("options.issuer", "is required for an oidc connection, or authorize_url, token_url and userinfo_url are");
  }
  for (const scope of options.scopes ?? []) {
    if (!scopePattern.test(scope)) report("options.scopes", `${JSON.stringify(scope.slice(0, 60))} is not a scope`);
  }
  return problems;
}

function endpointProblem(
  text: string,
  allowPrivate: boolean,
  closedHost: (host: string) => boolean,
): string | undefined {
  const url = /^https?:\/\/[^\s\\#]+$/.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "")
    return 'is not an address such as "https://host/path"';
  if (allowPrivate) return undefined;
  const way = "or serve with --identity-allow-private-endpoints";
  if (url.protocol !== "https:") return `must be https, ${way}`;
  return closedHost(url.hostname) ? `is inside this machine or its networks: name a public host, ${way}` : undefined;
}
