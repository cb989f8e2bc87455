import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { readRefreshToken, refreshMessage, standingOf, writeRefreshToken } from "../core/refresh-token.ts";
import type { Session, User } from "../store/records.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
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

/** What the session of a token goes on with, decided inside the write. */
interface Granted {
  session: Session;
  user: User;
  refreshToken: string;
}

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
  const macOf = (chain: Uint8Array, generation: number) =>
    createHmac("sha256", key).update(refreshMessage(chain, generation)).digest();
  const tokenOf = ({ settings }: InstanceEntry, chain: Uint8Array, generation: number) =>
    writeRefreshToken(settings.refresh_token_prefix, { chain, generation, mac: macOf(chain, generation) });

  /** The session of a token, where it and its user still stand. */
  const standing = (nouns: SessionNouns, entry: InstanceEntry, session: Session | undefined) => {
    if (session === undefined || session.instance !== entry.instance.seq) return undefined;
    const user = nouns.users.bySeq(session.user);
    const open = user !== undefined && user.bannedAt === undefined && isOpen(session, entry.instance, clock.now());
    return open ? { session, user } : undefined;
  };

  /** The chain of a token that we have made, whatever became of it since. */
  const chainOf = (nouns: SessionNouns, token: string) => {
    const parts = readRefreshToken(token);
    if (parts === undefined || !timingSafeEqual(macOf(parts.chain, parts.generation), parts.mac)) return undefined;
    const chain = nouns.refreshChains.get(parts.chain);
    return chain && { chain, generation: parts.generation };
  };

  return {
    open(nouns: SessionNouns, entry: InstanceEntry, { sessionId, jti, sub, exp }: SignIn): Granted {
      const now = clock.now();
      const found = standing(nouns, entry, nouns.sessions.get(entry.instance.seq, sessionId));
      if (found === undefined || found.user.id !== sub) throw new Failure("unauthorized", "Session is not active");
      const id = createHash("sha256").update(`${entry.instance.id}\0${jti}`).digest().subarray(0, 16);
      const granted = { ...found, refreshToken: tokenOf(entry, id, 0) };
      const before = nouns.refreshChains.get(id);
      if (before !== undefined) {
        if (before.generation === 0 && now < before.createdAt + limits.refreshGraceMs) return granted;
        throw new Failure("unauthorized", "Token already exchanged");
      }
      const { seq: session, expiresAt: end = Number.MAX_SAFE_INTEGER } = found.session;
      // As long as the sign-in token lasts it must be known that it was exchanged.
      const expiresAt = Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(Math.max(end, exp * 1000)));
      nouns.refreshChains.add({ id, session, generation: 0, rotatedAt: now, expiresAt, createdAt: now });
      return granted;
    },
    /** Undefined is a refusal that may have ended the session: what it wrote must stay, so it is not thrown. */
    extend(nouns: SessionNouns, entry: InstanceEntry, token: string): Granted | undefined {
      const now = clock.now();
      const known = chainOf(nouns, token);
      const found = standing(nouns, entry, known && nouns.sessions.bySeq(known.chain.session));
      if (known === undefined || found === undefined) return undefined;
      const { chain, generation } = known;
      const { session, user } = found;
      const { instance } = entry;
      switch (standingOf(generation, chain, { now, graceMs: limits.refreshGraceMs })) {
        case "unknown":
          return undefined;
        case "spent":
          revokeSession(nouns, { instance, session, userId: user.id, actor: "service", reason: "reuse", now });
          return undefined;
        case "repeated":
          return { session, user, refreshToken: tokenOf(entry, chain.id, generation + 1) };
        case "current": {
          nouns.refreshChains.rotate(chain.id, now);
          const active = { ...session, lastActivityAt: now };
          nouns.sessions.update(active);
          return { session: active, user, refreshToken: tokenOf(entry, chain.id, generation + 1) };
        }
      }
    },
    end(nouns: SessionNouns, entry: InstanceEntry, token: string): void {
      const known = chainOf(nouns, token);
      const session = known && nouns.sessions.bySeq(known.chain.session);
      if (session === undefined || session.instance !== entry.instance.seq) return;
      const userId = nouns.users.bySeq(session.user)?.id ?? "";
      const { instance } = entry;
      revokeSession(nouns, { instance, session, userId, actor: "client", reason: "client", now: clock.now() });
    },
  };
}
