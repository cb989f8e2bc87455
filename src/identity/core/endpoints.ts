import type { BuiltInProvider, ProviderOptions } from "../api/providers.ts";

/** How the parts of a sign-in at one provider are reached, and in what manner it wants to be asked. */
export interface ProviderEndpoints {
  authorize: string;
  token: string;
  userinfo: string;
  /** Only github has one. */
  emails: string | undefined;
  /** Where ID tokens come from; undefined where none are looked at. */
  issuer: string | undefined;
  jwks: string | undefined;
  /** How the client proves itself at the token endpoint (RFC 6749 section 2.3.1). */
  auth: "basic" | "body";
}

interface KnownProvider {
  label: string;
  scopes: string[];
  endpoints: ProviderEndpoints;
}

/** The providers and scopes of docs/contract/identity.md, 1.3. */
export const knownProviders: Record<BuiltInProvider, KnownProvider> = {
  google: {
    label: "Google",
    scopes: ["openid", "email", "profile"],
    endpoints: {
      authorize: "https://accounts.google.com/o/oauth2/v2/auth",
      token: "https://oauth2.googleapis.com/token",
      userinfo: "https://www.googleapis.com/oauth2/v3/userinfo",
      emails: undefined,
      issuer: "https://accounts.google.com",
      jwks: "https://www.googleapis.com/oauth2/v3/certs",
      auth: "body",
    },
  },
  github: {
    label: "GitHub",
    scopes: ["user:email", "read:user"],
    endpoints: {
      authorize: "https://github.com/login/oauth/authorize",
      token: "https://github.com/login/oauth/access_token",
      userinfo: "https://api.github.com/user",
      emails: "https://api.github.com/user/emails",
      issuer: undefined,
      jwks: undefined,
      auth: "body",
    },
  },
  twitter: {
    label: "X",
    scopes: ["tweet.read", "users.read"],
    endpoints: {
      authorize: "https://x.com/i/oauth2/authorize",
      token: "https://api.x.com/2/oauth2/token",
      userinfo: "https://api.x.com/2/users/me?user.fields=profile_image_url",
      emails: undefined,
      issuer: undefined,
      jwks: undefined,
      auth: "basic",
    },
  },
};

export const oidcScopes = ["openid", "email", "profile"];

/**
 * Endpoints of a built-in provider (docs/contract/identity.md, 1.3), unless an operator has set others. Behind other
 * endpoints is another provider, whose ID tokens are not google's: they are ignored unless an issuer is named.
 */
export function knownEndpoints(kind: BuiltInProvider, options: ProviderOptions): ProviderEndpoints {
  const { endpoints } = knownProviders[kind];
  const isOverridden = [options.authorize_url, options.token_url, options.userinfo_url].some(
    (url) => url !== undefined,
  );
  return {
    authorize: options.authorize_url ?? endpoints.authorize,
    token: options.token_url ?? endpoints.token,
    userinfo: options.userinfo_url ?? endpoints.userinfo,
    emails: options.emails_url ?? emailsOf(kind, options) ?? endpoints.emails,
    issuer: isOverridden ? undefined : endpoints.issuer,
    jwks: isOverridden ? undefined : endpoints.jwks,
    auth: endpoints.auth,
  };
}

/** The listing of addresses is below the profile, also on a self-hosted server. */
function emailsOf(kind: BuiltInProvider, { userinfo_url }: ProviderOptions): string | undefined {
  if (kind !== "github" || userinfo_url === undefined) return undefined;
  const url = new URL(userinfo_url);
  return `${url.origin}${url.pathname.replace(/\/$/, "")}/emails`;
}

/** A provider's error, as an app may see it: only codes of the standards, for anything else came from who knows where. */
export function shownError(code: string | undefined): string {
  return code !== undefined && standardErrors.has(code) ? code : "server_error";
}

/** RFC 6749 section 4.1.2.1 and OpenID Connect Core section 3.1.2.6. */
const standardErrors = new Set([
  "access_denied",
  "invalid_request",
  "unauthorized_client",
  "unsupported_response_type",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
  "interaction_required",
  "login_required",
  "account_selection_required",
  "consent_required",
]);
