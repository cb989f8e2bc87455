import type { Database } from "bun:sqlite";
import type { Session } from "./records.ts";

interface SessionRow {
  seq: number;
  id: string;
  session_id: string;
  instance: number;
  user: number;
  provider: string;
  name: string;
  email: string;
  ip_address: string;
  user_agent: string;
  geo_data: string;
  device: string | null;
  logged_in_at: number;
  last_signin_at: number;
  last_activity_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  revoke_reason: string | null;
  created_at: number;
}

/** Where a list of sessions goes on: the last one seen. */
interface SessionCursor {
  lastSigninAt: number;
  seq: number;
}

export interface Sessions {
  /** By session id, within one instance. */
  get(instance: number, sessionId: string): Session | undefined;
  bySeq(seq: number): Session | undefined;
  /** Most recent sign-in first, revoked ones included. */
  list(instance: number, page: { limit: number; after?: SessionCursor }): Session[];
  /** Not revoked, oldest sign-in first. */
  active(user: number): Session[];
  /** Whether a browser has, or had, a session of the user. */
  isKnown(instance: number, of: { user: number; device: string }): boolean;
  add(session: Omit<Session, "seq">): Session;
  /** Everything that may change: times, reason, device, name, email, address. */
  update(session: Session): void;
  /** Revokes what is active of a user and spends its refresh tokens; returns the session ids. */
  revokeAll(user: number, reason: string, now: number): string[];
}

export function createSessions(db: Database): Sessions {
  const byId = db.query<SessionRow, [number, string]>("select * from sessions where instance = ? and session_id = ?");
  const bySeq = db.query<SessionRow, [number]>("select * from sessions where seq = ?");
  const first = db.query<SessionRow, [number, number]>(
    "select * from sessions where instance = ? order by last_signin_at desc, seq desc limit ?",
  );
  const next = db.query<SessionRow, [number, number, number, number]>(
    "select * from sessions where instance = ? and (last_signin_at, seq) < (?, ?)" +
      " order by last_signin_at desc, seq desc limit ?",
  );
  const active = db.query<SessionRow, [number]>(
    "select * from sessions where user = ? and revoked_at is null order by last_signin_at, seq",
  );
  const known = db.query<unknown, [number, string, number]>(
    "select 1 from sessions where instance = ? and device = ? and user = ? limit 1",
  );
  const insert = db.query<SessionRow, (string | number | null)[]>(
    "insert into sessions (id, session_id, instance, user, provider, name, email, ip_address, user_agent, geo_data," +
      " device, logged_in_at, last_signin_at, last_activity_at, expires_at, revoked_at, revoke_reason, created_at)" +
      ` values (${Array(18).fill("?").join(", ")}) returning *`,
  );
  const update = db.query<unknown, (string | number | null)[]>(
    "update sessions set name = ?, email = ?, ip_address = ?, user_agent = ?, geo_data = ?, device = ?," +
      " logged_in_at = ?, last_signin_at = ?, last_activity_at = ?, expires_at = ?, revoked_at = ?, revoke_reason = ?" +
      " where seq = ?",
  );
  const revoke = db.query<{ session_id: string }, [number, string, number]>(
    "update sessions set revoked_at = ?, revoke_reason = ? where user = ? and revoked_at is null returning session_id",
  );
  const burn = db.query<unknown, [number]>(
    "delete from refresh_chains where session in (select seq from sessions where user = ?)",
  );
  return {
    get: (instance, sessionId) => optional(byId.get(instance, sessionId)),
    bySeq: (seq) => optional(bySeq.get(seq)),
    list: (instance, { limit, after }) =>
      (after === undefined ? first.all(instance, limit) : next.all(instance, after.lastSigninAt, after.seq, limit)).map(
        toSession,
      ),
    active: (user) => active.all(user).map(toSession),
    isKnown: (instance, { user, device }) => known.get(instance, device, user) !== null,
    add(session) {
      const { id, sessionId, instance, user, provider } = session;
      const row = insert.get(id, sessionId, instance, user, provider, ...columnsOf(session), session.createdAt);
      if (row === null) throw new Error("an insert returned no row");
      return toSession(row);
    },
    update(session) {
      update.run(...columnsOf(session), session.seq);
    },
    revokeAll(user, reason, now) {
      burn.run(user);
      return revoke.all(now, reason, user).map(({ session_id }) => session_id);
    },
  };
}

function columnsOf(session: Omit<Session, "seq">): (string | number | null)[] {
  const { name, email, ipAddress, userAgent, geoData, device } = session;
  const { loggedInAt, lastSigninAt, lastActivityAt, expiresAt, revokedAt, revokeReason } = session;
  const about = [name, email, ipAddress, userAgent, JSON.stringify(geoData), device ?? null];
  return [
    ...about,
    loggedInAt,
    lastSigninAt,
    lastActivityAt,
    expiresAt ?? null,
    revokedAt ?? null,
    revokeReason ?? null,
  ];
}

function optional(row: SessionRow | null): Session | undefined {
  return row === null ? undefined : toSession(row);
}

function toSession(row: SessionRow): Session {
  return {
    seq: row.seq,
    id: row.id,
    sessionId: row.session_id,
    instance: row.instance,
    user: row.user,
    provider: row.provider,
    name: row.name,
    email: row.email,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    geoData: JSON.parse(row.geo_data) as Record<string, unknown>,
    device: row.device ?? undefined,
    loggedInAt: row.logged_in_at,
    lastSigninAt: row.last_signin_at,
    lastActivityAt: row.last_activity_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    revokeReason: row.revoke_reason ?? undefined,
    createdAt: row.created_at,
  };
}
