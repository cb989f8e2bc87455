import type { Database } from "bun:sqlite";
import { createKeptByUser, type KeptByUser } from "./kept-by-user.ts";
import type { SharedRead } from "./shared-read.ts";

/** Whom a token speaks of: the user, and of the session what tells how it stands. Times are epoch milliseconds. */
interface TokenSubject {
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

export interface TokenSubjects extends Pick<KeptByUser<Kept>, "forget"> {
  /** The session is left out where it is not one of this user's. */
  get(instance: number, user: string, sessionId: string | undefined): TokenSubject | undefined;
}

interface Kept {
  instance: number;
  userId: string;
  subject: TokenSubject;
}

/**
 * Every verification waits for these, and an app sends the same token again and again: the last `most` of them are kept
 * in memory, each until its user or one of the user's sessions changes. Only what was found is kept.
 */
export function createTokenSubjects(db: Database, reading: SharedRead, most: number): TokenSubjects {
  const read = createReader(db);
  const kept = createKeptByUser<Kept>(most);
  return {
    get(instance, userId, sessionId) {
      // Inside a write nothing is committed yet.
      if (sessionId === undefined || db.inTransaction) return read(instance, userId, sessionId)?.subject;
      const known = kept.get(sessionId);
      if (known !== undefined && known.userId === userId && known.instance === instance) return known.subject;
      reading.begin();
      const found = read(instance, userId, sessionId);
      if (found?.subject.session !== undefined) {
        kept.put(sessionId, found.user, { instance, userId, subject: found.subject });
      }
      return found?.subject;
    },
    forget: kept.forget,
  };
}

type Reader = (
  instance: number,
  userId: string,
  sessionId: string | undefined,
) => { user: number; subject: TokenSubject } | undefined;

/** Few columns, and two statements instead of a join, which costs SQLite more. */
function createReader(db: Database): Reader {
  const findUser = db.query<UserRow, [string, number]>(
    "select seq, email, name, avatar_url, banned_at from users where id = ? and instance = ?",
  );
  const findSession = db.query<SessionRow, [string, number]>(
    "select user, provider, logged_in_at, last_activity_at, expires_at, revoked_at from sessions" +
      " where session_id = ? and instance = ?",
  );
  return (instance, userId, sessionId) => {
    const user = findUser.get(userId, instance);
    if (user === null) return undefined;
    const session = sessionId === undefined ? null : findSession.get(sessionId, instance);
    const subject = {
      email: user.email,
      name: user.name,
      avatarUrl: user.avatar_url ?? undefined,
      bannedAt: user.banned_at ?? undefined,
      session: session?.user === user.seq ? toSubjectSession(session) : undefined,
    };
    return { user: user.seq, subject };
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
