import { isoTime } from "../../base/pure/iso-time.ts";
import { claimedProvider, type Claims, claimsOf, readClaims, type ReadClaims } from "../core/claims.ts";
import { decodePart, splitToken, type TokenType } from "../core/jwt.ts";
import { type SessionStatus, sessionStatus } from "../core/session-status.ts";
import type { Session, User } from "../store/records.ts";
import type { SubjectSession } from "../store/token-subjects.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import type { Resource } from "./resources.ts";
import { signerOf } from "./signing.ts";

interface IssueOptions {
  entry: InstanceEntry;
  user: User;
  session: Session;
}

/** Why a token is rejected (docs/contract/identity.md, 6). */
type TokenFault = "Token invalid signature" | "Token does not belong to this instance" | "Token expired";

interface ReadToken extends ReadClaims {
  type: TokenType;
}

/** A refusal is answered 401 with `valid: false`, apart from a user who is not there any more: 404. */
type Verification =
  | { valid: true; resource: Resource }
  | { valid: false; error: TokenFault | "User banned" | "Session revoked" | "Session expired" }
  | { valid: false; error: "User not found" };

/** The tokens of an instance (docs/contract/identity.md, 2.4, 2.5). */
export interface Tokens {
  /** The token that a browser is sent back with: an hour. Fails as `Signer.sign`. */
  issue(options: IssueOptions): string;
  /** What it is exchanged for: shorter, and opens no further session. */
  issueAccess(options: IssueOptions): string;
  /** Signature, instance and time; nothing is looked up but keys. */
  read(entry: InstanceEntry, token: string): ReadToken | TokenFault;
  /** The user and the session behind a token that was read. */
  lookUp(entry: InstanceEntry, token: ReadToken): Verification;
  /** Both. */
  verify(entry: InstanceEntry, token: string): Verification;
}

/** Shape of a `jti` of ours; tokens that an app has signed itself may have any other. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const invalid = "Token invalid signature";
const foreign = "Token does not belong to this instance";

export function createTokens(context: IdentityContext): Tokens {
  const { clock, limits } = context;
  const issue = ({ entry, user, session }: IssueOptions, type: TokenType, lifetimeMs: number): string => {
    const { instance, settings } = entry;
    const jti = crypto.randomUUID();
    const claims: Claims = claimsOf({ instance, settings, user, session, jti, now: clock.now(), lifetimeMs });
    return signerOf(entry).sign(claims, type);
  };
  const read = (entry: InstanceEntry, token: string) => readToken(context, entry, token);
  return {
    issue: (options) => issue(options, "JWT", limits.signInTokenMs),
    issueAccess: (options) => issue(options, "at+jwt", limits.accessTokenMs),
    read,
    lookUp: (entry, token) => lookUp(context, entry, token),
    verify(entry, token) {
      const found = read(entry, token);
      return typeof found === "string" ? { valid: false, error: found } : lookUp(context, entry, found);
    },
  };
}

function readToken(
  { directory, clock, limits }: IdentityContext,
  entry: InstanceEntry,
  token: string,
): ReadToken | TokenFault {
  if (token.length > limits.tokenBytesMax) return invalid;
  const parts = splitToken(token);
  if (parts === undefined) return invalid;
  const now = clock.now();
  const type = signerOf(entry).check(parts, now);
  const payload = decodePart(parts.payload);
  if (payload === undefined) return invalid;
  if (type === undefined) {
    // Only a token that the other instance has really signed is called foreign.
    const { instance_id: id } = payload;
    const other = typeof id === "string" && id !== entry.instance.id ? directory.byId(id) : undefined;
    return other !== undefined && signerOf(other).check(parts, now) !== undefined ? foreign : invalid;
  }
  const claims = readClaims(payload, { instanceId: entry.instance.id, now });
  if (claims === "unusable") return invalid;
  if (claims === "instance") return foreign;
  if (claims === "expired") return "Token expired";
  const { sub, exp, provider, sessionId, jti } = claims;
  return { sub, exp, provider, sessionId, jti, type };
}

function lookUp({ store, clock }: IdentityContext, entry: InstanceEntry, token: ReadToken): Verification {
  const { instance, settings } = entry;
  const { sessionId } = token;
  const subject = store.tokenSubjects.get(instance.seq, token.sub, sessionId);
  if (subject === undefined) return { valid: false, error: "User not found" };
  if (subject.bannedAt !== undefined) return { valid: false, error: "User banned" };
  const { session } = subject;
  const idleMinutes = settings.session_idle_timeout_minutes;
  const standing = session && sessionStatus(session, { now: clock.now(), idleMinutes });
  if (settings.revoked_fails_verify && sessionId !== undefined && standing?.status !== "active") {
    return { valid: false, error: standing?.status === "expired" ? "Session expired" : "Session revoked" };
  }
  const data: Record<string, unknown> = {
    valid: true,
    email: subject.email,
    name: subject.name,
    avatar_url: subject.avatarUrl ?? "",
    provider: token.provider ?? claimedProvider(session?.provider ?? "password"),
  };
  if (sessionId !== undefined) data.session = sessionData(sessionId, session, standing);
  const { jti = "", sub } = token;
  return { valid: true, resource: { id: uuid.test(jti) ? jti : sub, resource: "token", data } };
}

function sessionData(
  sessionId: string,
  session: SubjectSession | undefined,
  standing: SessionStatus | undefined,
): Record<string, unknown> {
  if (session === undefined || standing === undefined) return { status: "not_found", session_id: sessionId };
  const data: Record<string, unknown> = { ...standing, session_id: sessionId };
  if (session.revokedAt !== undefined) data.revoked_at = isoTime(session.revokedAt);
  data.logged_in_at = isoTime(session.loggedInAt);
  data.last_activity_at = isoTime(session.lastActivityAt);
  return data;
}
