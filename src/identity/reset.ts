import { normaliseEmail } from "../core/identity/email.ts";
import { passwordProblem } from "../core/identity/password-rules.ts";
import { checkRedirect } from "../core/identity/redirect.ts";
import type { IdentityNouns } from "../store/identity/open-store.ts";
import type { User } from "../store/identity/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import { type DeadEnd, type FormProblem, takeRates } from "./forms.ts";
import type { Mailing } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import { hashOf, randomSecret } from "./random.ts";
import { endSessions } from "./sessions.ts";
import { emitUser } from "./user-events.ts";
import type { Visit } from "./visit.ts";

export interface Reset {
  /** Says the same to everybody: only whoever reads the mailbox gets to know more. */
  begin(visit: Visit, form: { email: string; redirectUri: string }): Promise<FormProblem | DeadEnd | { sent: string }>;
  /** Whether a link is good, without using it up; the address to go back to. */
  look(visit: Visit, value: string): { redirectUri: string } | undefined;
  finish(visit: Visit, value: string, password: string): Promise<FormProblem | DeadEnd | { redirectUri: string }>;
}

export interface ResetParts {
  context: IdentityContext;
  passwords: Passwords;
  mailing: Mailing;
}

export function createReset({ context, passwords, mailing }: ResetParts): Reset {
  const { store, clock, limits } = context;
  const offers = ({ entry }: Visit) => entry.settings.email_signin && entry.settings.password_signin;

  function find(nouns: Pick<IdentityNouns, "oneTime">, visit: Visit, value: string) {
    const row = nouns.oneTime.get(hashOf(value), "reset_password");
    if (row === undefined || row.instance !== visit.entry.instance.seq || row.expiresAt <= clock.now())
      return undefined;
    const redirectUri = typeof row.data.redirectUri === "string" ? row.data.redirectUri : "";
    return row.user === undefined ? undefined : { hash: row.hash, user: row.user, redirectUri };
  }

  function send(nouns: IdentityNouns, { visit, user, redirectUri, now }: Sending): void {
    const { entry, language, pagesUrl } = visit;
    const value = randomSecret(context);
    nouns.oneTime.put({
      hash: hashOf(value),
      instance: entry.instance.seq,
      user: user.seq,
      purpose: "reset_password",
      data: { redirectUri },
      createdAt: now,
      expiresAt: now + limits.signIn.resetLinkMs,
    });
    const link = `${pagesUrl}/reset?token=${value}`;
    mailing.post(nouns, { entry, purpose: "reset_password", language, to: user.email, link, now });
  }

  return {
    async begin(visit, form) {
      const { entry, ip } = visit;
      const redirect = checkRedirect(form.redirectUri, entry.settings);
      if (!redirect.ok) return { end: "redirect" };
      if (!offers(visit)) return { end: "provider" };
      const email = normaliseEmail(form.email);
      if (email === undefined) return { problem: "email" };
      const late = takeRates(context, visit, { perClient: "reset", perAccount: "reset_account", email });
      if (late !== undefined) return late;
      const now = clock.now();
      // One write either way: how long it takes says nothing about the address.
      await store.write((nouns) => {
        const { instance } = entry;
        audit(nouns, { instance, actor: "user", action: "password.reset_requested", email, ip, now });
        const user = nouns.users.byEmail(instance.seq, email);
        if (user === undefined || user.placeholder || user.bannedAt !== undefined) return;
        send(nouns, { visit, user, redirectUri: redirect.value, now });
      });
      mailing.wake();
      return { sent: email };
    },
    look(visit, value) {
      const found = find(store, visit, value);
      return found && { redirectUri: found.redirectUri };
    },
    async finish(visit, value, password) {
      const { entry, ip } = visit;
      const { instance, settings } = entry;
      const found = find(store, visit, value);
      const user = found && store.users.bySeq(found.user);
      if (found === undefined || user === undefined || user.bannedAt !== undefined) return { end: "link" };
      const lengthMin = settings.min_password_length;
      const bytesMax = limits.signIn.passwordBytesMax;
      const problem = passwordProblem({ password, email: user.email, lengthMin, bytesMax });
      if (problem === "password_short") return { problem, count: lengthMin };
      if (problem !== undefined) return { problem };
      const late = takeRates(context, visit, { perClient: "reset", email: "" });
      if (late !== undefined) return late;
      const passwordHash = await passwords.hash(password);
      const now = clock.now();
      return store.write((nouns) => {
        const row = nouns.oneTime.take(found.hash, "reset_password");
        const present = nouns.users.bySeq(found.user);
        if (row === undefined || present === undefined || present.bannedAt !== undefined)
          return { end: "link" as const };
        if (present.emailVerifiedAt === undefined) nouns.identities.removeUnverified(present.seq);
        const emailVerifiedAt = present.emailVerifiedAt ?? now;
        const updated: User = { ...present, passwordHash, emailVerifiedAt, updatedAt: now };
        nouns.users.update(updated);
        nouns.oneTime.clear(present.seq, "reset_password");
        nouns.oneTime.clear(present.seq, "verify_email");
        endSessions(nouns, { instance, user: updated, actor: "user", reason: "password_reset", now });
        const { id: userId, email } = present;
        audit(nouns, { instance, actor: "user", action: "password.reset", userId, email, ip, now });
        emitUser(nouns, { entry, type: "user.updated", user: updated, now });
        return { redirectUri: found.redirectUri };
      });
    },
  };
}

interface Sending {
  visit: Visit;
  user: User;
  redirectUri: string;
  now: number;
}
