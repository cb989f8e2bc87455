import type { IdentityNouns } from "../store/open-store.ts";
import type { AuditEntry, Instance } from "../store/records.ts";

/** What there is to say about one act. Never a token, code, password or the content of a mail. */
interface Act {
  instance: Pick<Instance, "seq">;
  /** `user`, `api:<key id>`, `operator`, `service`. */
  actor: string;
  /** Dotted: `signin.ok`, `signin.fail`, `user.create`, `session.revoke`, `key.rotate`, `identity.link` … */
  action: string;
  /** UUID. */
  userId?: string;
  email?: string;
  sessionId?: string;
  provider?: string;
  ip?: string;
  /** Small: reasons, names of fields, ids. */
  detail?: Record<string, unknown>;
  /** Epoch milliseconds. */
  now: number;
}

/** Longest texts of strangers, such as the address of a failed sign-in, that an entry keeps. */
const textMax = 512;

/** Writes an entry of the audit trail, inside the write that it tells about. */
export function audit(nouns: Pick<IdentityNouns, "audit">, act: Act): void {
  nouns.audit.append(entryOf(act));
}

interface AttemptLimits {
  /** How long an entry takes further attempts that say the same. */
  attemptWindowMs: number;
  /** Entries of one action of an instance within that. */
  attemptsMax: number;
}

/** Like `audit`, for what strangers can cause as often as they like: repeats are counted, and a flood is one entry. */
export function auditAttempt(nouns: Pick<IdentityNouns, "audit">, act: Act, limits: AttemptLimits): void {
  nouns.audit.attempt(entryOf(act), { since: act.now - limits.attemptWindowMs, most: limits.attemptsMax });
}

function entryOf(act: Act): Omit<AuditEntry, "seq"> {
  return {
    id: crypto.randomUUID(),
    instance: act.instance.seq,
    at: act.now,
    actor: act.actor,
    action: act.action,
    userId: act.userId,
    email: clip(act.email),
    sessionId: clip(act.sessionId),
    provider: clip(act.provider),
    ipAddress: clip(act.ip),
    detail: act.detail ?? {},
  };
}

function clip(text: string | undefined): string | undefined {
  return text?.slice(0, textMax).toWellFormed();
}
