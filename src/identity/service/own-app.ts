import { sessionStatus } from "../core/session-status.ts";
import type { IdentityContext } from "./context.ts";
import type { Hosted } from "./hosted.ts";
import { revokeSession } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";

/** Who came back from the hosted pages with a code. */
interface SignedInUser {
  /** UUID. */
  user: string;
  email: string;
  emailVerified: boolean;
  /** Session of the identity service: `svc_session_…`. */
  session: string;
  /** When that session ends; epoch milliseconds. */
  expiresAt: number | undefined;
}

/** What an app does with its secret key over HTTP, for a part of this server that signs people in itself. */
export interface OwnApp {
  /** Whether browsers can reach the hosted pages at all. */
  isServed: boolean;
  /** Redeems the code of a sign-in, once; undefined for one that is unknown, used or too old, and for a banned user. */
  redeem(instance: string, code: string): Promise<SignedInUser | undefined>;
  /** Whether the user is still there and not banned, and the session is active. */
  stands(instance: string, of: { user: string; session: string }): boolean;
  /** Ends a session, as a sign-out does; one that has ended stays as it is. */
  end(instance: string, session: string): Promise<void>;
}

export function createOwnApp(
  context: IdentityContext,
  { hosted, tokens }: { hosted: Pick<Hosted, "redeem">; tokens: Pick<Tokens, "read"> },
): OwnApp {
  const { directory, store, clock } = context;
  const stands: OwnApp["stands"] = (instance, { user, session }) => {
    const entry = directory.byId(instance);
    if (entry === undefined) return false;
    const subject = store.tokenSubjects.get(entry.instance.seq, user, session);
    if (subject?.session === undefined || subject.bannedAt !== undefined) return false;
    const idleMinutes = entry.settings.session_idle_timeout_minutes;
    return sessionStatus(subject.session, { now: clock.now(), idleMinutes }).status === "active";
  };
  return {
    isServed: context.isServed,
    stands,
    async redeem(instance, code) {
      const entry = directory.byId(instance);
      const token = entry === undefined ? undefined : await hosted.redeem(entry, code);
      if (entry === undefined || token === undefined) return undefined;
      const read = tokens.read(entry, token);
      if (typeof read === "string" || read.sessionId === undefined) return undefined;
      const { sub: user, sessionId: session } = read;
      const found = store.users.find(user);
      if (found === undefined || !stands(instance, { user, session })) return undefined;
      const expiresAt = store.sessions.get(entry.instance.seq, session)?.expiresAt;
      const emailVerified = found.emailVerifiedAt !== undefined && !found.placeholder;
      return { user, email: found.email, emailVerified, session, expiresAt };
    },
    end: (id, sessionId) =>
      store.write((nouns) => {
        const instance = nouns.instances.get(id);
        const session = instance && nouns.sessions.get(instance.seq, sessionId);
        if (instance === undefined || session === undefined) return;
        const userId = nouns.users.bySeq(session.user)?.id ?? "";
        revokeSession(nouns, { instance, session, userId, actor: "web-ui", reason: "sign_out", now: clock.now() });
      }),
  };
}
