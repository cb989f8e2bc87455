import type { Session, User } from "../store/identity/records.ts";

/** What a list, a search or a look at one thing shows (identity API, section 2). */
export interface Resource {
  id: string;
  resource: "user" | "session" | "token" | "instance";
  data: Record<string, unknown>;
}

/** `providers` are those of its identities. */
export function userResource(user: User, providers: readonly string[]): Resource {
  return {
    id: user.id,
    resource: "user",
    data: {
      email: user.email,
      name: user.name,
      avatar_url: user.avatarUrl ?? null,
      email_verified: user.emailVerifiedAt !== undefined,
      providers: user.passwordHash === undefined ? providers : [...providers, "password"],
      created_at: iso(user.createdAt),
      updated_at: iso(user.updatedAt),
      banned_at: isoOrNull(user.bannedAt),
    },
  };
}

/** `userId` is the UUID of its user. */
export function sessionResource(session: Session, userId: string): Resource {
  return {
    id: session.id,
    resource: "session",
    data: {
      session_id: session.sessionId,
      user_id: userId,
      provider: session.provider,
      name: session.name,
      email: session.email,
      ip_address: session.ipAddress,
      geo_data: session.geoData,
      user_agent: session.userAgent,
      logged_in_at: iso(session.loggedInAt),
      last_signin_at: iso(session.lastSigninAt),
      last_activity_at: iso(session.lastActivityAt),
      expires_at: isoOrNull(session.expiresAt),
      revoked_at: isoOrNull(session.revokedAt),
      active: session.revokedAt === undefined,
    },
  };
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : iso(at);
}
