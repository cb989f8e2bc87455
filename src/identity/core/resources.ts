import { isoTime } from "../../base/pure/iso-time.ts";
/** Resource objects (docs/contract/identity.md, 2): what lists, searches and single reads answer with. */

interface UserFacts {
  id: string;
  email: string;
  name: string;
  avatarUrl: string | undefined;
  emailVerifiedAt: number | undefined;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Connected accounts, in order of their joining. */
  providers: readonly string[];
  hasPassword: boolean;
}

export function userResource(user: UserFacts) {
  return {
    id: user.id,
    resource: "user",
    data: {
      email: user.email,
      name: user.name,
      avatar_url: user.avatarUrl ?? null,
      email_verified: user.emailVerifiedAt !== undefined,
      providers: user.hasPassword ? [...user.providers, "password"] : [...user.providers],
      created_at: isoTime(user.createdAt),
    },
  } as const;
}

interface SessionFacts {
  id: string;
  sessionId: string;
  /** UUID of the owner. */
  userId: string;
  provider: string;
  name: string;
  email: string;
  ipAddress: string;
  geoData: Record<string, unknown>;
  /** Epoch milliseconds, as all times here. */
  loggedInAt: number;
  lastSigninAt: number;
  revokedAt: number | undefined;
}

export function sessionResource(session: SessionFacts) {
  const { revokedAt } = session;
  return {
    id: session.id,
    resource: "session",
    data: {
      session_id: session.sessionId,
      user_id: session.userId,
      provider: session.provider,
      name: session.name,
      email: session.email,
      ip_address: session.ipAddress,
      geo_data: session.geoData,
      logged_in_at: isoTime(session.loggedInAt),
      last_signin_at: isoTime(session.lastSigninAt),
      revoked_at: revokedAt === undefined ? null : isoTime(revokedAt),
      active: revokedAt === undefined,
    },
  } as const;
}

interface AuditFacts {
  id: string;
  at: number;
  actor: string;
  action: string;
  userId: string | undefined;
  email: string | undefined;
  sessionId: string | undefined;
  provider: string | undefined;
  ipAddress: string | undefined;
  detail: Record<string, unknown>;
}

export function auditResource(entry: AuditFacts) {
  return {
    id: entry.id,
    resource: "audit",
    data: {
      created_at: isoTime(entry.at),
      actor: entry.actor,
      action: entry.action,
      user_id: entry.userId ?? null,
      email: entry.email ?? null,
      session_id: entry.sessionId ?? null,
      provider: entry.provider ?? null,
      ip_address: entry.ipAddress ?? null,
      detail: entry.detail,
    },
  } as const;
}
