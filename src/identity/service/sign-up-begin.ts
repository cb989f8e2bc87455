import { clientNetwork } from "../../base/pure/client-network.ts";
import { Failure } from "../../base/wire/failure.ts";
import { isPlaceholder, isSubaddress, normaliseEmail } from "../core/email.ts";
import { passwordProblem } from "../core/password-rules.ts";
import { stateLimitReached } from "../core/state-room.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { User } from "../store/records.ts";
import { audit } from "./audit.ts";
import { accountKey, counted, type FormOutcome, type FormProblem, inEvenTime, laneOf } from "./forms.ts";
import { hashOf, randomSecret } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import { offersPassword } from "./sign-in.ts";
import { deviceOf, isEstablished, type PendingSignUp, type SignUpParts } from "./sign-up-parts.ts";
import type { Browser } from "./browser.ts";

export interface SignUpForm {
  name: string;
  email: string;
  password: string;
  redirectUri: string;
}

const nameLengthMax = 200;

/** Says the same to everybody: what there is to say about an address goes to its mailbox. */
export async function beginSignUp(parts: SignUpParts, browser: Browser, form: SignUpForm): Promise<FormOutcome> {
  const { context, passwords, mailing } = parts;
  const { entry } = browser;
  const redirectUri = allowedRedirect(context, browser, form.redirectUri);
  if (redirectUri === undefined) return { end: "redirect" };
  if (!offersPassword(entry) || !entry.settings.email_signup) return { end: "provider" };
  const email = normaliseEmail(form.email);
  if (email === undefined) return { problem: "email" };
  const problem = formProblem(parts, browser, { ...form, email });
  if (problem !== undefined) return problem;
  const perAccount = { bucket: "reset_account", key: accountKey(browser, email) } as const;
  return counted(context, browser, { perClient: "sign_up", perAccount }, async () => {
    // Also for an address that is taken: the time it takes must not tell.
    const passwordHash = await passwords.hash(form.password, laneOf(browser));
    const name = cleanName(form.name) || email.slice(0, email.indexOf("@"));
    const client = clientNetwork(browser.ip).near;
    const pending = { name, passwordHash, redirectUri, device: deviceOf(browser), client };
    const now = context.clock.now();
    const work = (nouns: IdentityNouns) => invite(parts, nouns, { browser, email, pending, now });
    await inEvenTime(context, () => context.store.write(work));
    mailing.wake();
    return { sent: email };
  });
}

function formProblem({ context }: SignUpParts, { entry }: Browser, form: SignUpForm): FormProblem | undefined {
  const { settings } = entry;
  const { email, password } = form;
  if (isPlaceholder(email, settings.placeholder_domain)) return { problem: "email" };
  if (settings.block_subaddresses && isSubaddress(email)) return { problem: "email" };
  if (form.name.length > nameLengthMax) return { problem: "name" };
  const lengthMin = settings.min_password_length;
  const { passwordBytesMax: bytesMax } = context.limits.signIn;
  const problem = passwordProblem({ password, email, lengthMin, bytesMax });
  if (problem === undefined) return undefined;
  return problem === "password_short" ? { problem, count: lengthMin } : { problem };
}

interface Invite {
  browser: Browser;
  email: string;
  pending: Omit<PendingSignUp, "isNew">;
  now: number;
}

function invite(parts: SignUpParts, nouns: IdentityNouns, invited: Invite): void {
  const { browser, email, pending, now } = invited;
  const { entry, language, pagesUrl } = browser;
  requireRoom(parts, nouns, entry.instance.seq);
  const known = nouns.users.byEmail(entry.instance.seq, email);
  const mail = { entry, language, to: email, now };
  if (known !== undefined && isEstablished(known)) {
    // Also somebody who is banned gets it: the page must say the same to everybody.
    const query = new URLSearchParams({ redirect_uri: pending.redirectUri });
    parts.mailing.post(nouns, { ...mail, purpose: "account_exists", link: `${pagesUrl}/sign-in?${query}` });
    return;
  }
  const user = known ?? addUser(nouns, invited);
  const earlier = nouns.oneTime.waiting(user.seq, "verify_email", 0);
  const isNew = known === undefined || earlier.some(({ data }) => data.isNew === true);
  const value = putLink(parts, nouns, { browser, user, data: { ...pending, isNew }, now });
  parts.mailing.post(nouns, { ...mail, purpose: "verify_email", link: `${pagesUrl}/verify?token=${value}` });
}

const fullRetrySeconds = 300;

/** Asked whether there is a user or not. Nothing is dropped to make room: that would end the sign-ups of others. */
function requireRoom({ context }: SignUpParts, { oneTime }: IdentityNouns, instance: number): void {
  const { linksKept: statesKept, linksInstanceShare: statesInstanceShare } = context.limits.signIn;
  const waiting = { ...oneTime.linksWaiting(instance), client: 0 };
  if (stateLimitReached(waiting, { statesKept, statesInstanceShare, statesClientShare: 1 }) === undefined) return;
  throw new Failure("unavailable", "too many sign-ups wait for their mail; try again later", {
    retryAfterSeconds: fullRetrySeconds,
  });
}

interface Link {
  browser: Browser;
  user: User;
  data: PendingSignUp;
  now: number;
}

function putLink({ context }: SignUpParts, nouns: IdentityNouns, { browser, user, data, now }: Link): string {
  const { verifyLinkMs } = context.limits.signIn;
  const value = randomSecret(context);
  const row = {
    hash: hashOf(value),
    instance: browser.entry.instance.seq,
    user: user.seq,
    purpose: "verify_email" as const,
    data: { ...data },
    createdAt: now,
    expiresAt: now + verifyLinkMs,
  };
  nouns.oneTime.put(row);
  return value;
}

/** Without the password: an address that is not proved yet opens nothing. */
function addUser(nouns: IdentityNouns, { browser, email, pending, now }: Invite): User {
  const { entry, ip } = browser;
  const { instance } = entry;
  const user = nouns.users.add({
    id: crypto.randomUUID(),
    instance: instance.seq,
    email,
    name: pending.name,
    avatarUrl: undefined,
    emailVerifiedAt: undefined,
    placeholder: false,
    passwordHash: undefined,
    bannedAt: undefined,
    createdAt: now,
    updatedAt: now,
  });
  audit(nouns, { instance, actor: "user", action: "user.create", userId: user.id, email, ip, now });
  return user;
}

function cleanName(text: string): string {
  return text
    .replace(/\p{Cc}/gu, "")
    .trim()
    .toWellFormed();
}
