import { clientNetwork } from "../../base/pure/client-network.ts";
import { normaliseEmail } from "../core/email.ts";
import { passwordProblem } from "../core/password-rules.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { User } from "../store/records.ts";
import { audit, auditAttempt } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import { attemptsBy, counted, type DeadEnd, type FormProblem, inEvenTime, laneOf } from "./forms.ts";
import type { Mailing } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import { hashOf, hexOf, randomSecret } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import { endSessions } from "./sessions.ts";
import { offersPassword } from "./sign-in.ts";
import { emitUser, provedEvent } from "./user-events.ts";
import type { Browser } from "./browser.ts";

type Asked = FormProblem | DeadEnd | { sent: string };
type Chosen = FormProblem | DeadEnd | { redirectUri: string };

export interface Reset {
  /** Gives every caller the same answer: only the owner of the mailbox learns more. */
  begin(browser: Browser, form: { email: string; redirectUri: string }): Promise<Asked>;
  /** Whether a link is good, without using it up. */
  look(browser: Browser, value: string): boolean;
  /** Ends all sessions too; says where to go on. */
  finish(browser: Browser, link: { value: string; password: string }): Promise<Chosen>;
}

interface ResetParts {
  context: IdentityContext;
  passwords: Passwords;
  mailing: Mailing;
}

export function createReset(parts: ResetParts): Reset {
  return {
    begin: (browser, form) => begin(parts, browser, form),
    look: (browser, value) => find(parts, browser, value) !== undefined,
    finish: (browser, link) => finish(parts, browser, link),
  };
}

async function begin(
  parts: ResetParts,
  browser: Browser,
  form: { email: string; redirectUri: string },
): Promise<Asked> {
  const { context } = parts;
  const { entry } = browser;
  const redirectUri = allowedRedirect(context, browser, form.redirectUri);
  if (redirectUri === undefined) return { end: "redirect" };
  if (!offersPassword(entry)) return { end: "provider" };
  const email = normaliseEmail(form.email);
  if (email === undefined) return { problem: "email" };
  return inEvenTime(context, () => request(parts, browser, { email, redirectUri }));
}

async function request(
  { context, mailing }: ResetParts,
  browser: Browser,
  { email, redirectUri }: { email: string; redirectUri: string },
): Promise<Asked> {
  const { entry, ip } = browser;
  const user = context.store.users.byEmail(entry.instance.seq, email);
  const perAccount = { bucket: "reset_account", key: attemptsBy(context, browser, { email, user }).key } as const;
  return counted(context, browser, { perClient: "reset", perAccount }, async () => {
    const now = context.clock.now();
    await context.store.write((nouns): void => {
      const { instance } = entry;
      const act = { instance, actor: "user", action: "password.reset_requested", email, ip, now };
      auditAttempt(nouns, act, context.limits);
      const present = nouns.users.byEmail(instance.seq, email);
      if (present === undefined || present.placeholder || present.bannedAt !== undefined) return;
      // The owner of the mailbox has enough links by then; strangers do not fill it.
      const waiting = nouns.oneTime.waiting(present.seq, "reset_password", now);
      if (waiting.length >= context.limits.signIn.resetLinksMax) return;
      const client = clientNetwork(ip).near;
      const token = putLink(context, nouns, { user: present, data: { redirectUri, client }, now });
      const link = `${browser.pagesUrl}/reset?token=${token}`;
      mailing.post(nouns, {
        entry,
        purpose: "reset_password",
        language: browser.language,
        to: present.email,
        link,
        now,
      });
    });
    mailing.wake();
    return { sent: email };
  });
}

interface Link {
  user: User;
  /** `client` is the network that asked. */
  data: { redirectUri: string; client: string };
  now: number;
}

function putLink(context: IdentityContext, nouns: IdentityNouns, { user, data, now }: Link): string {
  const { resetLinkMs } = context.limits.signIn;
  const value = randomSecret(context);
  const row = {
    hash: hashOf(value),
    instance: user.instance,
    user: user.seq,
    purpose: "reset_password" as const,
    data,
    createdAt: now,
    expiresAt: now + resetLinkMs,
  };
  nouns.oneTime.put(row);
  return value;
}

interface Found {
  hash: Uint8Array;
  user: User;
  redirectUri: string;
  /** Missing in rows of earlier versions. */
  client: string | undefined;
  createdAt: number;
}

function find({ context }: ResetParts, { entry }: Browser, value: string): Found | undefined {
  const { store, clock } = context;
  const row = store.oneTime.get(hashOf(value), "reset_password");
  if (row === undefined || row.instance !== entry.instance.seq || row.expiresAt <= clock.now()) return undefined;
  const user = row.user === undefined ? undefined : store.users.bySeq(row.user);
  if (user === undefined || user.bannedAt !== undefined) return undefined;
  const { redirectUri, client } = row.data as { redirectUri: string; client?: string };
  return { hash: row.hash, user, redirectUri, client, createdAt: row.createdAt };
}

async function finish(
  parts: ResetParts,
  browser: Browser,
  { value, password }: { value: string; password: string },
): Promise<Chosen> {
  const { context, passwords } = parts;
  const found = find(parts, browser, value);
  if (found === undefined) return { end: "link" };
  const lengthMin = browser.entry.settings.min_password_length;
  const { passwordBytesMax: bytesMax } = context.limits.signIn;
  const problem = passwordProblem({ password, email: found.user.email, lengthMin, bytesMax });
  if (problem !== undefined) return problem === "password_short" ? { problem, count: lengthMin } : { problem };
  // The holder of the link guesses nothing; the work that one link can cause is bounded all the same.
  const seconds = context.rateLimits.take("reset_link", hexOf(found.hash));
  if (seconds !== undefined) return { problem: "rate", seconds };
  const passwordHash = await passwords.hash(password, laneOf(browser));
  const now = context.clock.now();
  const isSet = await context.store.write((nouns) => setPassword(nouns, browser, { found, passwordHash, now }));
  if (!isSet) return { end: "link" };
  context.rateLimits.giveBackClient("reset", found.client ?? "", now - found.createdAt);
  return { redirectUri: found.redirectUri };
}

/** False when the link was used meanwhile, or the user is not welcome any more. */
function setPassword(
  nouns: IdentityNouns,
  { entry, ip }: Browser,
  { found, passwordHash, now }: { found: Found; passwordHash: string; now: number },
): boolean {
  const { instance } = entry;
  const row = nouns.oneTime.take(found.hash, "reset_password");
  const user = nouns.users.bySeq(found.user.seq);
  if (row === undefined || user === undefined || user.bannedAt !== undefined) return false;
  const type = provedEvent(nouns, user);
  if (user.emailVerifiedAt === undefined) nouns.identities.removeUnproved(user.seq, user.email);
  const updated: User = { ...user, passwordHash, emailVerifiedAt: user.emailVerifiedAt ?? now, updatedAt: now };
  nouns.users.update(updated);
  nouns.oneTime.clear(user.seq, "reset_password");
  nouns.oneTime.clear(user.seq, "verify_email");
  endSessions(nouns, { instance, user: updated, actor: "user", reason: "password_reset", now });
  const { id: userId, email } = user;
  audit(nouns, { instance, actor: "user", action: "password.reset", userId, email, ip, now });
  emitUser(nouns, { entry, type, user: updated, now });
  return true;
}
