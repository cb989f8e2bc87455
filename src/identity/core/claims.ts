/** Claims of a token (docs/contract/identity.md, 2.5), and berth's own. Times are whole seconds. */
export interface Claims {
  iss: string;
  /** UUID of the user. */
  sub: string;
  email: string;
  name: string;
  /** Empty where the user has none. */
  avatar_url: string;
  provider: string;
  instance_id: string;
  app_id: string;
  iat: number;
  exp: number;
  session_id: string;
  jti: string;
  email_verified: boolean;
  /** The publishable key; only where keys are published. */
  aud?: string;
}

interface ClaimsInput {
  instance: { id: string; appId: string; publishableKey: string };
  settings: { jwt_issuer: string; algorithm: string };
  user: {
    id: string;
    email: string;
    name: string;
    avatarUrl: string | undefined;
    emailVerifiedAt: number | undefined;
  };
  session: { sessionId: string; provider: string };
  jti: string;
  /** Epoch milliseconds. */
  now: number;
  lifetimeMs: number;
}

/** `exp` is `iat` and the lifetime to the second. */
export function claimsOf({ instance, settings, user, session, jti, now, lifetimeMs }: ClaimsInput): Claims {
  const iat = Math.floor(now / 1000);
  return {
    iss: settings.jwt_issuer,
    sub: user.id,
    email: user.email,
    name: user.name,
    avatar_url: user.avatarUrl ?? "",
    provider: claimedProvider(session.provider),
    instance_id: instance.id,
    app_id: instance.appId,
    iat,
    exp: iat + Math.floor(lifetimeMs / 1000),
    session_id: session.sessionId,
    jti,
    email_verified: user.emailVerifiedAt !== undefined,
    ...(settings.algorithm === "RS256" ? { aud: instance.publishableKey } : {}),
  };
}

/** Two words mean one way to sign in: sessions say `password`, tokens say `email` (docs/contract/identity.md, 2.5). */
export function claimedProvider(provider: string): string {
  return provider === "password" ? "email" : provider;
}

/** What a token that is signed by the right key says of itself, as far as anything depends on it. */
export interface ReadClaims {
  sub: string;
  exp: number;
  provider: string | undefined;
  sessionId: string | undefined;
  jti: string | undefined;
}

type ClaimsFault = "unusable" | "instance" | "expired";

/**
 * Checks the claims of a token whose signature is right. `iss` is not looked at: it is a label that the operator may
 * change, while the key is the instance's own. There is no tolerance: a token is expired at its `exp`.
 */
export function readClaims(
  payload: Record<string, unknown>,
  { instanceId, now }: { instanceId: string; now: number },
): ReadClaims | ClaimsFault {
  const { sub, exp, nbf, iat } = payload;
  const seconds = Math.floor(now / 1000);
  if (typeof sub !== "string" || sub === "" || !isTime(exp)) return "unusable";
  if (iat !== undefined && !isTime(iat)) return "unusable";
  if (payload.instance_id !== undefined && payload.instance_id !== instanceId) return "instance";
  if (nbf !== undefined && (!isTime(nbf) || nbf > seconds)) return "unusable";
  if (exp <= seconds) return "expired";
  return {
    sub,
    exp,
    provider: text(payload.provider),
    sessionId: text(payload.session_id),
    jti: text(payload.jti),
  };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
