import type { Database } from "bun:sqlite";
import type { ReadTurn } from "./read-turn.ts";

/** Whom a token speaks of: the user, and of the session what tells how it stands. Times are epoch milliseconds. */
export interface TokenSubject {
  email: string;
  name: string;
  avatarUrl: string | undefined;
  bannedAt: number | undefined;
  session: SubjectSession | undefined;
}

export interface SubjectSession {
  provider: string;
  loggedInAt: number;
  lastActivityAt: number;
  expiresAt: number | undefined;
  revokedAt: number | undefined;
}

interface UserRow {
  seq: number;
  email: string;
  name: string;
  avatar_url: string | null;
  banned_at: number | null;
}

interface SessionRow {
  user: number;
  provider: string;
  logged_in_at: number;
  last_activity_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

export interface TokenSubjects {
  /** The session is left out where it is not one of this user's. */
  get(instance: number, user: string, sessionId: string | undefined): TokenSubject | undefined;
}

/** Few columns, and two statements instead of a join, which costs SQLite more: every verification waits for them. */
export function createTokenSubjects(db: Database, turn: ReadTurn): TokenSubjects {
  const findUser = db.query<UserRow, [string, number]>(
    "select seq, email, name, avatar_url, banned_at from users where id = ? and instance = ?",
  );
  const findSession = db.query<SessionRow, [string, number]>(
    "select user, provider, logged_in_at, last_activity_at, expires_at, revoked_at from sessions" +
      " where session_id = ? and instance = ?",
  );
  return {
    get(instance, id, sessionId) {
      turn.enter();
      const user = findUser.get(id, instance);
      if (user === null) return undefined;
      const session = sessionId === undefined ? null : findSession.get(sessionId, instance);
      return {
        email: user.email,
        name: user.name,
        avatarUrl: user.avatar_url ?? undefined,
        bannedAt: user.banned_at ?? undefined,
        session: session?.user === user.seq ? toSubjectSession(session) : undefined,
      };
    },
  };
}

function toSubjectSession(row: SessionRow): SubjectSession {
  return {
    provider: row.provider,
    loggedInAt: row.logged_in_at,
    lastActivityAt: row.last_activity_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}
