import { parseDuration } from "../../../base/pure/duration.ts";
import { sha256Bytes } from "../../../base/pure/digest.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import { createPat, type getPat, type listPats, type Pat, type revokePat, rotatePat } from "../../api/tokens.ts";
import { isTokenId, tokenBytes, tokenId, tokenOf } from "../../core/tokens/format.ts";
import { heldScopes } from "../../core/tokens/grant.ts";
import { readTokenRequest, type TokenTerms } from "../../core/tokens/request.ts";
import type { ObservabilityNouns } from "../../store/open-store.ts";
import type { Token } from "../../store/records.ts";
import { auditNote } from "../audit.ts";
import type { ObservabilityContext } from "../context.ts";
import type { Streams } from "../streams.ts";

const readCreation = bodyReader(createPat);
const readRotation = bodyReader(rotatePat);

/** Who asks, for the record of a token. */
interface By {
  actor: string;
}

/** Personal access tokens, as an operator manages them. */
export interface ManagedTokens {
  list(options: { all: boolean }): DataOf<typeof listPats>;
  /** Fails `not_found`. */
  get(id: string): DataOf<typeof getPat>;
  /** Fails `invalid`, and `conflict` when there are too many. */
  create(body: unknown, by: By): Promise<DataOf<typeof createPat>>;
  /** A token with the same terms; the old one stays good for the grace time. Fails as `get`, and `conflict` for one that has ended. */
  rotate(id: string, body: unknown, by: By): Promise<DataOf<typeof rotatePat>>;
  /**
   * Ends a token and cuts its streams. Fails as `get`; a second time answers as the first. `by` is for the audit trail;
   * without it the caller has put it there.
   */
  nameOf(actor: string): string | undefined;
  revoke(id: string, by?: By): Promise<DataOf<typeof revokePat>>;
}

export function createManagedTokens(context: ObservabilityContext, streams: Pick<Streams, "cut">): ManagedTokens {
  const { store, clock, limits } = context;
  const note = ({ audit }: ObservabilityNouns, done: { actor: string; action: string; target: string }) =>
    audit.append(auditNote(clock.now(), { ...done, ip: undefined }));
  const write = <T>(change: (nouns: ObservabilityNouns) => T) => store.write(change);
  return {
    list({ all }) {
      const now = clock.now();
      const tokens = store.tokens.list().filter((token) => all || !hasEnded(token, now));
      return { pats: tokens.map(wirePat) };
    },
    get: (id) => ({ pat: wirePat(requireToken(store, id)) }),
    create(body, { actor }) {
      const now = clock.now();
      const { terms, problems } = readTokenRequest(readCreation(body), { now, ...limits.tokens });
      if (problems.length > 0) throw problemsFailure(problems);
      return write((nouns) => {
        const made = mint(context, nouns, { ...terms, createdBy: actor });
        note(nouns, { actor, action: "POST /pats", target: `/pats/${made.record.id}` });
        return made;
      });
    },
    rotate(id, body, { actor }) {
      const graceMs = graceOf(readRotation(body).grace, limits.tokens.graceMs);
      return write((nouns) => {
        const now = clock.now();
        const token = requireToken(nouns, id);
        if (hasEnded(token, now)) {
          throw new Failure("conflict", `token ${id} has ended: make another one with berth pat create`);
        }
        const made = mint(context, nouns, { ...token, scopes: heldScopes(token), createdBy: actor });
        nouns.tokens.endBy(id, now + graceMs);
        note(nouns, { actor, action: "POST /pats/:id/rotate", target: `/pats/${id}/rotate` });
        return made;
      });
    },
    nameOf: tokenNames(store),
    async revoke(id, by) {
      const revoked = await write((nouns) => {
        requireToken(nouns, id);
        const isNew = nouns.tokens.revoke(id, clock.now());
        if (isNew && by !== undefined) note(nouns, { ...by, action: "DELETE /pats/:id", target: `/pats/${id}` });
        return requireToken(nouns, id);
      });
      streams.cut(id);
      return { id, revoked_at: isoTime(revoked.revokedAt ?? clock.now()) };
    },
  };
}

/** A token that no program ever has: what stands for it is a session. */
export function mintOwned(context: ObservabilityContext, nouns: ObservabilityNouns, terms: Terms): Token {
  const { record } = mint(context, nouns, terms);
  return requireToken(nouns, record.id);
}

/** The name of the token that an actor of the event log is. */
export function tokenNames({ tokens }: Pick<ObservabilityNouns, "tokens">): (actor: string) => string | undefined {
  const prefix = "pat:";
  return (actor) => (actor.startsWith(prefix) ? tokens.get(actor.slice(prefix.length))?.name : undefined);
}

function requireToken({ tokens }: Pick<ObservabilityNouns, "tokens">, id: string): Token {
  const token = isTokenId(id) ? tokens.get(id) : undefined;
  if (token !== undefined) return token;
  // Somebody may have given the whole token: it must not come back in an error text, which is logged.
  const shown = isTokenId(id) ? ` "${id}"` : "";
  throw new Failure("not_found", `there is no token${shown}: berth pat list shows the ids, which have six characters`);
}

type Terms = TokenTerms & { createdBy: string };

function mint(context: ObservabilityContext, nouns: ObservabilityNouns, terms: Terms): DataOf<typeof createPat> {
  const { clock, limits } = context;
  const now = clock.now();
  nouns.tokens.trim(now, limits.tokens.endedKept);
  if (nouns.tokens.list().filter((token) => !hasEnded(token, now)).length >= limits.tokens.activeMax) {
    const text = `there are ${limits.tokens.activeMax} tokens already: revoke some with berth pat revoke`;
    throw new Failure("conflict", text);
  }
  const token = freshToken(context, nouns);
  const { scopes, name, expiresAt, apps, networks, createdBy } = terms;
  const record: Token = {
    id: tokenId(token),
    ...{ scopes, name, expiresAt, apps, networks, createdBy },
    createdAt: now,
    lastUsedAt: undefined,
    lastUsedIp: undefined,
    lastUsedAgent: undefined,
    revokedAt: undefined,
  };
  nouns.tokens.add(record, hashOf(token));
  return { token, record: wirePat(record) };
}

/** Ids are short: one that was given before, also to a token that has ended, is not given again. */
function freshToken({ randomBytes }: ObservabilityContext, { tokens }: ObservabilityNouns): string {
  for (;;) {
    const token = tokenOf(randomBytes(tokenBytes));
    if (token !== undefined && tokens.get(tokenId(token)) === undefined) return token;
  }
}

/** SHA-256 of the whole token: with 132 secret bits it needs no salt. */
export function hashOf(token: string): Uint8Array {
  return sha256Bytes([Buffer.from(token)]);
}

export function hasEnded({ revokedAt, expiresAt }: Token, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

function graceOf(text: string | undefined, usualMs: number): number {
  if (text === undefined) return usualMs;
  const ms = parseDuration(text.trim());
  if (ms !== undefined) return ms;
  throw new Failure(
    "invalid",
    `grace: ${JSON.stringify(text)} is not a duration; write it like "15m", or "0" for at once`,
  );
}

function wirePat(token: Token): Pat {
  const { id, name, apps, networks, createdAt, createdBy, expiresAt, lastUsedAt, revokedAt } = token;
  return {
    id,
    scopes: [...heldScopes(token)],
    ...(name === undefined ? {} : { name }),
    apps: [...apps],
    cidr: [...networks],
    created_at: isoTime(createdAt),
    created_by: createdBy,
    ...(expiresAt === undefined ? {} : { expires_at: isoTime(expiresAt) }),
    ...(lastUsedAt === undefined ? {} : { last_used_at: isoTime(lastUsedAt) }),
    ...(token.lastUsedIp === undefined ? {} : { last_used_ip: token.lastUsedIp }),
    ...(token.lastUsedAgent === undefined ? {} : { last_used_agent: token.lastUsedAgent }),
    ...(revokedAt === undefined ? {} : { revoked_at: isoTime(revokedAt) }),
  };
}
