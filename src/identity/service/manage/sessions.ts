import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { IdentitySession, listIdentitySessions } from "../../api/manage/sessions.ts";
import type { IdentityNouns } from "../../store/open-store.ts";
import type { Instance, Session } from "../../store/records.ts";
import type { Searches } from "../search.ts";
import { revokeSession } from "../sessions.ts";
import { type By, type ManageContext, type Query, requireInstance } from "./context.ts";
import { findResources } from "./found.ts";
import { find } from "./users.ts";

/** Sessions as the operator manages them. */
export interface ManagedSessions {
  /** By most recent sign-in, or what a query finds, or the active ones of a user. */
  list(
    instance: string | undefined,
    query: Query & { user: string | undefined },
  ): Promise<DataOf<typeof listIdentitySessions>>;
  /** Fails `conflict` where it has ended already. */
  revoke(instance: string | undefined, sessionId: string, by: By): Promise<IdentitySession>;
}

export function createManagedSessions(context: ManageContext, search: Pick<Searches, "sessions">): ManagedSessions {
  const { store, clock } = context;
  return {
    async list(id, query) {
      const instance = requireInstance(context, id);
      const { rows, next } = await read(instance, query);
      return { sessions: rows.map((one) => wire(store, one)), next };
    },
    revoke: (id, sessionId, { actor }) =>
      store.write((nouns) => {
        const instance = requireInstance(context, id);
        const session = nouns.sessions.get(instance.seq, sessionId);
        if (session === undefined) throw new Failure("not_found", `no session "${sessionId.slice(0, 120)}"`);
        if (session.revokedAt !== undefined) {
          throw new Failure("conflict", `session ${sessionId} has ended at ${isoTime(session.revokedAt)}`);
        }
        const userId = nouns.users.bySeq(session.user)?.id ?? "";
        revokeSession(nouns, { instance, session, userId, actor, reason: "operator", now: clock.now() });
        return wire(nouns, nouns.sessions.get(instance.seq, sessionId) ?? session);
      }),
  };

  async function read(instance: Instance, query: Query & { user: string | undefined }) {
    if (query.user !== undefined && query.query !== undefined) {
      throw new Failure("invalid", "give a user or a query, not both");
    }
    if (query.query !== undefined) {
      const { resources, next } = await findResources(context, search.sessions, { instance, query });
      const ids = resources.map(({ data }) => ("session_id" in data ? String(data.session_id) : ""));
      return { rows: ids.flatMap((id) => store.sessions.get(instance.seq, id) ?? []), next };
    }
    if (query.user === undefined) return page(instance, query);
    const { user } = find(context, store, { instance: instance.id, user: query.user });
    return { rows: store.sessions.active(user.seq).slice(0, query.limit), next: undefined };
  }

  function page({ seq: instance }: Instance, { limit, cursor }: Query) {
    const place = { instance, list: "sessions" } as const;
    const [lastSigninAt = 0, seq = 0] = context.cursors.read(place, cursor, 2) ?? [];
    const after = cursor === undefined ? {} : { after: { lastSigninAt, seq } };
    const rows = store.sessions.list(instance, { limit, ...after });
    const last = rows.at(-1);
    const isLast = last === undefined || rows.length < limit;
    return { rows, next: isLast ? undefined : context.cursors.write(place, [last.lastSigninAt, last.seq]) };
  }
}

function wire(nouns: Pick<IdentityNouns, "users">, session: Session): IdentitySession {
  const { expiresAt, revokedAt, revokeReason } = session;
  return {
    session_id: session.sessionId,
    user_id: nouns.users.bySeq(session.user)?.id ?? "",
    provider: session.provider,
    name: session.name,
    email: session.email,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    logged_in_at: isoTime(session.loggedInAt),
    last_signin_at: isoTime(session.lastSigninAt),
    active: revokedAt === undefined,
    ...(expiresAt === undefined ? {} : { expires_at: isoTime(expiresAt) }),
    ...(revokedAt === undefined ? {} : { revoked_at: isoTime(revokedAt) }),
    revoke_reason: revokeReason,
  };
}
