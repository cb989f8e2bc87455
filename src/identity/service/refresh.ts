import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import {
  readRefreshToken,
  refreshMessage,
  rotatedChain,
  signInGeneration,
  standingOf,
  writeRefreshToken,
} from "../core/refresh-token.ts";
import type { RefreshChain, Session, User } from "../store/records.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { isOpen, revokeSession, type SessionNouns } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";

/** What a client gets for a sign-in token, and again for each refresh token (docs/contract/identity.md, 3.4). */
export interface TokenPair {
  access_token: string;
  refresh_token: string;
  token_type: "Bearer";
  /** Seconds. */
  expires_in: number;
  session_id: string;
}

/**
 * Sessions that prolong themselves. A refresh token is exchanged for its successor. Tokens are made from their chain
 * and their place in it, so that a client that has lost the answer, or the other tabs of a browser, get the newest one
 * for the grace from the first use of theirs. A later return of a spent token ends the session (RFC 9700, section 4.14).
 */
export interface Refresh {
  /** Each sign-in token once, and again within its grace. Fails `unauthorized`, and `too_many` for the session. */
  exchange(entry: InstanceEntry, token: string): Promise<TokenPair>;
  /** Fails `unauthorized`, always with the same text, and `too_many` for the session. */
  refresh(entry: InstanceEntry, refreshToken: string): Promise<TokenPair>;
  /** Ends the session of any of its tokens (RFC 7009, section 2.2). False for a token that we have not made. */
  revoke(entry: InstanceEntry, refreshToken: string): Promise<boolean>;
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
      const place = chain.placeOf(refreshToken);
      const granted = place && (await store.write((nouns) => chain.extend(nouns, entry, place)));
      if (granted === undefined) throw new Failure("unauthorized", "Invalid refresh token");
      return pairOf(entry, granted);
    },
    async revoke(entry, refreshToken) {
      const place = chain.placeOf(refreshToken);
      if (place !== undefined) await store.write((nouns) => chain.end(nouns, entry, place));
      return place !== undefined;
    },
  };
}

interface SignIn {
  sessionId: string;
  jti: string;
  sub: string;
  exp: number;
}

/** What a token of ours says. */
interface Place {
  chain: Uint8Array;
  generation: number;
}

function createChain({ clock, limits, derive, rateLimits }: IdentityContext) {
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

  const graceAt = (now: number) => ({ now, graceMs: limits.refreshGraceMs, holdMaxMs: limits.refreshHoldMaxMs });

  /** A valid token counts for its session, and not for others who share its address. */
  const count = ({ seq }: Session) => {
    const retryAfterSeconds = rateLimits.take("session", String(seq));
    if (retryAfterSeconds !== undefined) throw new Failure("too_many", "Too many requests", { retryAfterSeconds });
  };

  /** The newest token, for one request more. */
  const repeat = (nouns: SessionNouns, entry: InstanceEntry, chain: RefreshChain) => {
    nouns.refreshChains.move(chain.id, { ...chain, sharedAt: clock.now() });
    return tokenOf(entry, chain.id, chain.generation);
  };

  return {
    open(nouns: SessionNouns, entry: InstanceEntry, { sessionId, jti, sub, exp }: SignIn): Granted {
      const now = clock.now();
      const found = standing(nouns, entry, nouns.sessions.get(entry.instance.seq, sessionId));
      if (found === undefined || found.user.id !== sub) throw new Failure("unauthorized", "Session is not active");
      const id = createHash("sha256").update(`${entry.instance.id}\0${jti}`).digest().subarray(0, 16);
      const before = nouns.refreshChains.get(id);
      const grace = graceAt(now);
      // It travels in an address, and comes back with the history of a browser: the session goes on.
      if (before !== undefined && standingOf(signInGeneration, before, grace) !== "repeated") {
        throw new Failure("unauthorized", "Token already exchanged");
      }
      count(found.session);
      if (before !== undefined) return { ...found, refreshToken: repeat(nouns, entry, before) };
      const { seq: session, expiresAt: end = Number.MAX_SAFE_INTEGER } = found.session;
      // As long as the sign-in token lasts it must be known that it was exchanged.
      const expiresAt = Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(Math.max(end, exp * 1000)));
      const first = { generation: 0, spent: [now], sharedAt: undefined };
      nouns.refreshChains.add({ id, session, ...first, expiresAt, createdAt: now });
      return { ...found, refreshToken: tokenOf(entry, id, 0) };
    },
    /** Undefined for a token that we have not made: it costs no write. */
    placeOf(token: string): Place | undefined {
      const parts = readRefreshToken(token);
      return parts !== undefined && timingSafeEqual(macOf(parts.chain, parts.generation), parts.mac)
        ? parts
        : undefined;
    },
    /** Undefined is a refusal that may have ended the session: what it wrote must stay, so it is not thrown. */
    extend(nouns: SessionNouns, entry: InstanceEntry, place: Place): Granted | undefined {
      const now = clock.now();
      const chain = nouns.refreshChains.get(place.chain);
      const found = standing(nouns, entry, chain && nouns.sessions.bySeq(chain.session));
      if (chain === undefined || found === undefined) return undefined;
      const { session, user } = found;
      const { instance } = entry;
      const grace = graceAt(now);
      const state = standingOf(place.generation, chain, grace);
      if (state === "unknown") return undefined;
      if (state === "spent") {
        revokeSession(nouns, { instance, session, userId: user.id, actor: "service", reason: "reuse", now });
        return undefined;
      }
      count(session);
      const active = { ...session, lastActivityAt: now };
      nouns.sessions.update(active);
      if (state !== "current") return { session: active, user, refreshToken: repeat(nouns, entry, chain) };
      const next = rotatedChain(chain, { ...grace, spentMax: limits.refreshSpentMax });
      nouns.refreshChains.move(chain.id, next);
      return { session: active, user, refreshToken: tokenOf(entry, chain.id, next.generation) };
    },
    end(nouns: SessionNouns, entry: InstanceEntry, place: Place): void {
      const chain = nouns.refreshChains.get(place.chain);
      const session = chain && nouns.sessions.bySeq(chain.session);
      if (session === undefined || session.instance !== entry.instance.seq) return;
      const userId = nouns.users.bySeq(session.user)?.id ?? "";
      const { instance } = entry;
      revokeSession(nouns, { instance, session, userId, actor: "client", reason: "client", now: clock.now() });
    },
  };
}
