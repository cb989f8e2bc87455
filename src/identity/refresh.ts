import { createHash } from "node:crypto";
import { Failure } from "../api/failure.ts";
import type { IdentityNouns } from "../store/identity/open-store.ts";
import type { Session, User } from "../store/identity/records.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { hmac } from "./hmac.ts";
import { isOpen, revokeSession, type SessionNouns } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";

/** What a client gets for a sign-in token, and again for each refresh token (identity API, rows beyond section 4). */
export interface TokenPair {
  access_token: string;
  refresh_token: string;
  token_type: "Bearer";
  /** Seconds. */
  expires_in: number;
  session_id: string;
}

/**
 * Sessions that prolong themselves. Each refresh token is used once; its successor is made from it, so that a client
 * that has lost the answer gets the same one within the grace. Any other return of a spent one ends the session
 * (RFC 9700, section 4.14).
 */
export interface Refresh {
  /** Each sign-in token once. Fails `unauthorized`. */
  exchange(entry: InstanceEntry, token: string): Promise<TokenPair>;
  /** Fails `unauthorized`, always with the same text. */
  refresh(entry: InstanceEntry, refreshToken: string): Promise<TokenPair>;
  /** Ends the session of any of its tokens; an unknown one is none (RFC 7009, section 2.2). */
  revoke(entry: InstanceEntry, refreshToken: string): Promise<void>;
}

type Nouns = SessionNouns & Pick<IdentityNouns, "exchanges">;

/** What the session of a token goes on with, decided inside the write. */
interface Granted {
  session: Session;
  user: User;
  refreshToken: string;
}

const bodyLength = 43;
const lengthMax = 256;

export function createRefresh(context: IdentityContext, tokens: Tokens): Refresh {
  const { store, limits } = context;
  const chain = createChain(context);
  const pairOf = (entry: InstanceEntry, { session, user, refreshToken }: Granted): TokenPair => ({
    access_token: tokens.issueAccess({ entry, user, session }),
    refresh_token: refreshToken,
    token_type: "Bearer",
    expires_in: Math.floor(limits.accessTokenMs / 1000),
    session_id: session.sessionId,
  });
  return {
    async exchange(entry, token) {
      const read = tokens.read(entry, token);
      if (typeof read === "string") throw new Failure("unauthorized", read);
      const { type, sessionId, jti, sub, exp } = read;
      if (type !== "JWT" || sessionId === undefined || jti === undefined) {
        throw new Failure("unauthorized", "Token is not a sign-in token");
      }
      const granted = await store.write((nouns) => chain.open(nouns, entry, { sessionId, jti, sub, exp }));
      return pairOf(entry, granted);
    },
    async refresh(entry, refreshToken) {
      const granted = await store.write((nouns) => chain.extend(nouns, entry, refreshToken));
      if (granted === undefined) throw new Failure("unauthorized", "Invalid refresh token");
      return pairOf(entry, granted);
    },
    revoke: (entry, refreshToken) => store.write((nouns) => chain.end(nouns, entry, refreshToken)),
  };
}

interface SignIn {
  sessionId: string;
  jti: string;
  sub: string;
  exp: number;
}

function createChain({ clock, limits, derive }: IdentityContext) {
  const key = derive("identity refresh tokens v1").reveal();
  const made = (entry: InstanceEntry, session: Session, from: string) =>
    `${entry.settings.refresh_token_prefix}${hmac(key, `${session.sessionId}\0${from}`)}`;

  /** The session of a token, where it and its user still stand. */
  const standing = (nouns: Nouns, entry: InstanceEntry, session: Session | undefined) => {
    if (session === undefined || session.instance !== entry.instance.seq) return undefined;
    const user = nouns.users.bySeq(session.user);
    const open = user !== undefined && user.bannedAt === undefined && isOpen(session, entry.instance, clock.now());
    return open ? { session, user } : undefined;
  };

  const add = (nouns: Nouns, token: string, session: Session) => {
    const now = clock.now();
    const expiresAt = session.expiresAt ?? Number.MAX_SAFE_INTEGER;
    nouns.refreshTokens.add({
      hash: hashOf(token),
      session: session.seq,
      spentAt: undefined,
      expiresAt,
      createdAt: now,
    });
  };

  /** The token that was made before, unless it has been used: then its receiver has long had it. */
  const again = (nouns: Nouns, at: number, token: string): boolean =>
    at + limits.refreshGraceMs > clock.now() &&
    nouns.refreshTokens.get(hashOf(token)) !== undefined &&
    nouns.refreshTokens.get(hashOf(token))?.spentAt === undefined;

  return {
    open(nouns: Nouns, entry: InstanceEntry, { sessionId, jti, sub, exp }: SignIn): Granted {
      const found = standing(nouns, entry, nouns.sessions.get(entry.instance.seq, sessionId));
      if (found === undefined || found.user.id !== sub) throw new Failure("unauthorized", "Session is not active");
      const name = createHash("sha256").update(`${entry.instance.id}\0${jti}`).digest("hex");
      const token = made(entry, found.session, `exchange\0${jti}`);
      const before = nouns.exchanges.get(name);
      if (before !== undefined) {
        if (again(nouns, before.at, token)) return { ...found, refreshToken: token };
        throw new Failure("unauthorized", "Token already exchanged");
      }
      const { seq: session } = found.session;
      nouns.exchanges.add({ jti: name, session, at: clock.now(), expiresAt: exp * 1000 });
      add(nouns, token, found.session);
      return { ...found, refreshToken: token };
    },
    /** Undefined is a refusal that may have ended the session: what it wrote must stay, so it is not thrown. */
    extend(nouns: Nouns, entry: InstanceEntry, token: string): Granted | undefined {
      if (token.length > lengthMax) return undefined;
      const row = nouns.refreshTokens.get(hashOf(token));
      const found = standing(nouns, entry, row && nouns.sessions.bySeq(row.session));
      if (row === undefined || found === undefined || row.expiresAt <= clock.now()) return undefined;
      const { session, user } = found;
      const successor = made(entry, session, `refresh\0${bodyOf(token)}`);
      if (row.spentAt !== undefined) {
        if (again(nouns, row.spentAt, successor)) return { session, user, refreshToken: successor };
        const { instance } = entry;
        const now = clock.now();
        revokeSession(nouns, { instance, session, userId: user.id, actor: "service", reason: "reuse", now });
        return undefined;
      }
      nouns.refreshTokens.spend(row.hash, clock.now());
      add(nouns, successor, session);
      const active = { ...session, lastActivityAt: clock.now() };
      nouns.sessions.update(active);
      return { session: active, user, refreshToken: successor };
    },
    end(nouns: Nouns, entry: InstanceEntry, token: string): void {
      const row = token.length > lengthMax ? undefined : nouns.refreshTokens.get(hashOf(token));
      const session = row && nouns.sessions.bySeq(row.session);
      if (session === undefined || session.instance !== entry.instance.seq) return;
      const userId = nouns.users.bySeq(session.user)?.id ?? "";
      const { instance } = entry;
      revokeSession(nouns, { instance, session, userId, actor: "client", reason: "client", now: clock.now() });
    },
  };
}

/** Without the prefix, which is a setting and may change within the life of a token. */
function bodyOf(token: string): string {
  return token.slice(-bodyLength);
}

function hashOf(token: string): Uint8Array {
  return createHash("sha256").update(bodyOf(token)).digest();
}
