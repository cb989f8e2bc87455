import { Failure } from "../../base/wire/failure.ts";
import { sessionsMax } from "../api/settings.ts";
import { sessionStatus } from "../core/session-status.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Instance, Session, User } from "../store/records.ts";
import { audit } from "./audit.ts";
import type { Caller } from "./auth.ts";
import type { IdentityContext } from "./context.ts";
import { effectiveSettings, type InstanceEntry } from "./directory.ts";
import { emit } from "./events.ts";
import { fillList, type Listing } from "./listing.ts";
import { type Resource, resourceOfSession } from "./resources.ts";

/** The nouns that a change of a session touches; call with those of the write it belongs to. */
export type SessionNouns = Pick<
  IdentityNouns,
  "sessions" | "refreshChains" | "users" | "audit" | "webhooks" | "webhookDeliveries"
>;

interface StartSession {
  instance: Instance;
  user: User;
  /** `password` or the name of a provider. */
  provider: string;
  ip: string;
  userAgent: string;
  /** sha256 of the browser's cookie in hex, where it has one. */
  device: string | undefined;
  /** Epoch milliseconds. */
  now: number;
}

const userAgentMax = 512;

/**
 * A session of its own for every authentication. Ends what the settings of the instance say is one too many: the
 * earlier ones of the device, the oldest beyond the cap.
 */
export function startSession(nouns: SessionNouns, start: StartSession): Session {
  const { instance, user, provider, ip, now } = start;
  const settings = effectiveSettings(instance);
  endSurplus(nouns, start);
  const session = nouns.sessions.add({
    id: crypto.randomUUID(),
    sessionId: `${settings.session_id_prefix}${crypto.randomUUID()}`,
    instance: instance.seq,
    user: user.seq,
    provider,
    name: user.name,
    email: user.email,
    ipAddress: ip,
    userAgent: start.userAgent.slice(0, userAgentMax).toWellFormed(),
    geoData: {},
    device: start.device,
    loggedInAt: now,
    lastSigninAt: now,
    lastActivityAt: now,
    expiresAt: now + settings.session_lifetime_hours * 3_600_000,
    revokedAt: undefined,
    revokeReason: undefined,
    createdAt: now,
  });
  const { sessionId } = session;
  const { id: userId, email } = user;
  audit(nouns, { instance, actor: "user", action: "session.create", userId, email, sessionId, provider, ip, now });
  emit(nouns, { instance, type: "session.created", data: { ...resourceOfSession(session, userId) }, now });
  return session;
}

function endSurplus(nouns: SessionNouns, { instance, user, device, now }: StartSession): void {
  const { single_session_per_device: single, max_concurrent_sessions: most } = effectiveSettings(instance);
  if (!single && most === null) return;
  const end = (session: Session, reason: string) =>
    revokeSession(nouns, { instance, session, userId: user.id, actor: "service", reason, now });
  const open = nouns.sessions.active(user.seq).filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  const ofDevice = single && device !== undefined ? open.filter((session) => session.device === device) : [];
  for (const session of ofDevice) end(session, "device");
  if (most === null) return;
  const others = open.filter((session) => !ofDevice.includes(session));
  for (const session of others.slice(0, Math.max(0, others.length - most + 1))) end(session, "cap");
}

/** The same browser signs in again: the session goes on, and only then does `last_signin_at` move. */
export function renewSession(
  nouns: SessionNouns,
  session: Session,
  { user, ip, userAgent, now }: Pick<StartSession, "user" | "ip" | "userAgent" | "now">,
): Session {
  const renewed: Session = {
    ...session,
    name: user.name,
    email: user.email,
    ipAddress: ip,
    userAgent: userAgent.slice(0, userAgentMax).toWellFormed(),
    lastSigninAt: now,
    lastActivityAt: now,
  };
  nouns.sessions.update(renewed);
  return renewed;
}

interface RevokeSession {
  instance: Instance;
  session: Session;
  /** UUID of its user. */
  userId: string;
  /** As of the audit trail. */
  actor: string;
  /** `api`, `sign_out`, `cap`, `device`, `reuse`, `ban` … */
  reason: string;
  now: number;
}

/** Ends a session and everything that could prolong it. One that was revoked before stays as it is. */
export function revokeSession(nouns: SessionNouns, revoke: RevokeSession): void {
  const { instance, session, userId, actor, reason, now } = revoke;
  if (session.revokedAt !== undefined) return;
  const revoked: Session = { ...session, revokedAt: now, revokeReason: reason };
  nouns.sessions.update(revoked);
  nouns.refreshChains.burn(session.seq);
  const { sessionId, email } = session;
  audit(nouns, { instance, actor, action: "session.revoke", userId, email, sessionId, detail: { reason }, now });
  emit(nouns, { instance, type: "session.revoked", data: { ...resourceOfSession(revoked, userId), reason }, now });
}

/** Ends every session of a user, as a ban or a new password does; returns how many there were. */
export function endSessions(
  nouns: SessionNouns,
  end: Omit<RevokeSession, "session" | "userId"> & { user: User },
): number {
  const { user, ...rest } = end;
  const open = nouns.sessions.active(user.seq);
  for (const session of open) revokeSession(nouns, { ...rest, session, userId: user.id });
  return open.length;
}

export interface Page {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** Sessions of an instance over the API. */
export interface Sessions {
  /** Fails `not_found`, also for one of another instance. */
  get(entry: InstanceEntry, sessionId: string): Resource;
  /** Most recent sign-in first, revoked ones included. Fails `invalid` for a bad cursor. */
  list(entry: InstanceEntry, page: Page): Listing;
  /** Fails `not_found`, and `unprocessable` for one that was revoked before. */
  revoke(caller: Caller, sessionId: string): Promise<{ revoked: true; session_id: string }>;
  /** What clients may want to know before they refresh. */
  config(entry: InstanceEntry): Record<string, unknown>;
}

export function createSessions({ store, cursors, clock, limits }: IdentityContext): Sessions {
  const find = (nouns: Pick<IdentityNouns, "sessions">, { instance }: InstanceEntry, sessionId: string) => {
    const session = nouns.sessions.get(instance.seq, sessionId);
    if (session === undefined) throw new Failure("not_found", "Session not found");
    return session;
  };
  const userIdOf = (nouns: Pick<IdentityNouns, "users">, { user }: Session) => nouns.users.bySeq(user)?.id ?? "";
  return {
    get(entry, sessionId) {
      const session = find(store, entry, sessionId);
      return resourceOfSession(session, userIdOf(store, session));
    },
    list({ instance }, { limit, cursor }) {
      const place = { instance: instance.seq, list: "sessions" } as const;
      const [lastSigninAt = 0, seq = 0] = cursors.read(place, cursor, 2) ?? [];
      const start = cursor === undefined ? undefined : { lastSigninAt, seq };
      return fillList<Session>({
        limits,
        limit,
        read: (after = undefined, count) => {
          const from = after ?? start;
          return store.sessions.list(instance.seq, { limit: count, ...(from === undefined ? {} : { after: from }) });
        },
        render: (session) => resourceOfSession(session, userIdOf(store, session)),
        cursorOf: (session) => cursors.write(place, [session.lastSigninAt, session.seq]),
      });
    },
    revoke: ({ entry, actor }, sessionId) =>
      store.write((nouns) => {
        const session = find(nouns, entry, sessionId);
        if (session.revokedAt !== undefined) throw new Failure("unprocessable", "Session already revoked");
        const { instance } = entry;
        const userId = userIdOf(nouns, session);
        revokeSession(nouns, { instance, session, userId, actor, reason: "api", now: clock.now() });
        return { revoked: true as const, session_id: session.sessionId };
      }),
    config({ settings }) {
      return {
        session_lifetime_hours: settings.session_lifetime_hours,
        session_idle_timeout_minutes: settings.session_idle_timeout_minutes,
        single_session_per_device: settings.single_session_per_device,
        max_concurrent_sessions: settings.max_concurrent_sessions ?? sessionsMax,
      };
    },
  };
}

/** Whether a session may still be prolonged at `now`. */
export function isOpen(session: Session, instance: Instance, now: number): boolean {
  const idleMinutes = effectiveSettings(instance).session_idle_timeout_minutes;
  return sessionStatus(session, { now, idleMinutes }).status === "active";
}
