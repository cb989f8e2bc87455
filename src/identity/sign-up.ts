import { isPlaceholder, isSubaddress, normaliseEmail } from "../core/identity/email.ts";
import { passwordProblem } from "../core/identity/password-rules.ts";
import { checkRedirect } from "../core/identity/redirect.ts";
import type { IdentityNouns } from "../store/identity/open-store.ts";
import type { OneTime, User } from "../store/identity/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import type { Admit } from "./entrance.ts";
import { accountKey, type FormOutcome, type FormProblem, takeRates } from "./forms.ts";
import type { Mailing } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import { hashOf, hexOf, randomSecret } from "./random.ts";
import { endSessions } from "./sessions.ts";
import { emitUser } from "./user-events.ts";
import type { Visit } from "./visit.ts";

export interface SignUpForm {
  name: string;
  email: string;
  password: string;
  redirectUri: string;
}

/** What a link of a sign-up opens. */
export type Pending = { needsPassword: boolean; redirectUri: string } | undefined;

export interface SignUp {
  /** Says the same to everybody: what there is to say about an address goes to its mailbox. */
  begin(visit: Visit, form: SignUpForm): Promise<FormOutcome>;
  /** Looks at a link without using it up: mail programs open links on their own. */
  look(visit: Visit, value: string): Pending;
  /** Proves the address, and lets in. `password` is needed in another browser than the one that began. */
  finish(visit: Visit, value: string, password: string | undefined): Promise<FormOutcome>;
}

export interface SignUpParts {
  context: IdentityContext;
  passwords: Passwords;
  mailing: Mailing;
  admit: Admit;
}

const nameLengthMax = 200;

/** What waits in the link's row. The password counts only once whoever chose it has proved the address. */
interface PendingData {
  name: string;
  passwordHash: string;
  redirectUri: string;
  device: string | undefined;
}

export function createSignUp({ context, passwords, mailing, admit }: SignUpParts): SignUp {
  const { store, clock, limits, rateLimits } = context;

  function formProblem({ entry }: Visit, form: SignUpForm, email: string | undefined): FormProblem | undefined {
    const { settings } = entry;
    if (email === undefined || isPlaceholder(email, settings.placeholder_domain)) return { problem: "email" };
    if (settings.block_subaddresses && isSubaddress(email)) return { problem: "email" };
    if (form.name.length > nameLengthMax) return { problem: "name" };
    const lengthMin = settings.min_password_length;
    const bytesMax = limits.signIn.passwordBytesMax;
    const problem = passwordProblem({ password: form.password, email, lengthMin, bytesMax });
    if (problem === undefined) return undefined;
    return problem === "password_short" ? { problem, count: lengthMin } : { problem };
  }

  function find(nouns: Pick<IdentityNouns, "oneTime">, visit: Visit, value: string): Found | undefined {
    const row = nouns.oneTime.get(hashOf(value), "verify_email");
    if (row === undefined || row.instance !== visit.entry.instance.seq || row.expiresAt <= clock.now())
      return undefined;
    return { row, data: row.data as unknown as PendingData };
  }

  return {
    async begin(visit, form) {
      const { entry } = visit;
      const { settings } = entry;
      const redirect = checkRedirect(form.redirectUri, settings);
      if (!redirect.ok) return { end: "redirect" };
      if (!settings.email_signin || !settings.password_signin || !settings.email_signup) return { end: "provider" };
      const email = normaliseEmail(form.email);
      const problem = formProblem(visit, form, email);
      if (problem !== undefined || email === undefined) return problem ?? { problem: "email" };
      const late = takeRates(context, visit, { perClient: "sign_up", perAccount: "reset_account", email });
      if (late !== undefined) return late;
      // Also for an address that is taken: the time it takes must not tell.
      const passwordHash = await passwords.hash(form.password);
      const name = cleanName(form.name) || email.slice(0, email.indexOf("@"));
      const data = { name, passwordHash, redirectUri: redirect.value, device: deviceOf(visit) };
      await store.write((nouns) => invite(nouns, { visit, email, data, now: clock.now() }));
      mailing.wake();
      return { sent: email };
    },
    look(visit, value) {
      const found = find(store, visit, value);
      if (found === undefined) return undefined;
      return { needsPassword: !isSameBrowser(visit, found.data), redirectUri: found.data.redirectUri };
    },
    async finish(visit, value, password) {
      const found = find(store, visit, value);
      if (found === undefined) return { end: "link" };
      if (!isSameBrowser(visit, found.data)) {
        // Whoever merely reads the mail must not make a stranger's password good.
        const account = accountKey(visit, hexOf(found.row.hash));
        const late = takeRates(context, visit, { perClient: "sign_in", email: "" });
        const locked = rateLimits.locked(account);
        if (late !== undefined || locked !== undefined) return late ?? { problem: "rate", seconds: locked ?? 1 };
        if (!(await passwords.verify(password ?? "", found.data.passwordHash))) {
          rateLimits.failed(account);
          return { problem: "credentials" };
        }
        rateLimits.passed(account);
      }
      const now = clock.now();
      return store.write((nouns): FormOutcome => {
        const row = nouns.oneTime.take(found.row.hash, "verify_email");
        const user = row?.user === undefined ? undefined : nouns.users.bySeq(row.user);
        const redirect = checkRedirect(found.data.redirectUri, visit.entry.settings);
        if (user === undefined || isEstablished(user)) return { end: "link" };
        if (!redirect.ok) return { end: "redirect" };
        const proven = prove(nouns, { visit, user, data: found.data, now });
        return admit(nouns, { visit, user: proven, provider: "password", redirectUri: redirect.value, now });
      });
    },
  };

  interface Invite {
    visit: Visit;
    email: string;
    data: PendingData;
    now: number;
  }

  function invite(nouns: IdentityNouns, { visit, email, data, now }: Invite): void {
    const { entry, language, pagesUrl } = visit;
    const { instance } = entry;
    const known = nouns.users.byEmail(instance.seq, email);
    const query = new URLSearchParams({ redirect_uri: data.redirectUri }).toString();
    if (known !== undefined && isEstablished(known)) {
      // Also somebody who is banned gets it: the page must say the same to everybody.
      const link = `${pagesUrl}/sign-in?${query}`;
      mailing.post(nouns, { entry, purpose: "account_exists", language, to: email, link, now });
      return;
    }
    const user = known ?? addUser(nouns, { visit, email, data, now });
    const value = randomSecret(context);
    nouns.oneTime.put({
      hash: hashOf(value),
      instance: instance.seq,
      user: user.seq,
      purpose: "verify_email",
      data: { ...data },
      createdAt: now,
      expiresAt: now + limits.signIn.verifyLinkMs,
    });
    const link = `${pagesUrl}/verify?token=${value}`;
    mailing.post(nouns, { entry, purpose: "verify_email", language, to: email, link, now });
  }

  /** Without the password: an address that nobody has proved yet opens nothing. */
  function addUser(nouns: IdentityNouns, { visit, email, data, now }: Invite): User {
    const { entry, ip } = visit;
    const user = nouns.users.add({
      id: crypto.randomUUID(),
      instance: entry.instance.seq,
      email,
      name: data.name,
      avatarUrl: undefined,
      emailVerifiedAt: undefined,
      placeholder: false,
      passwordHash: undefined,
      bannedAt: undefined,
      createdAt: now,
      updatedAt: now,
    });
    const { id: userId } = user;
    audit(nouns, { instance: entry.instance, actor: "user", action: "user.create", userId, email, ip, now });
    emitUser(nouns, { entry, type: "user.created", user, now });
    return user;
  }

  interface Prove {
    visit: Visit;
    user: User;
    data: PendingData;
    now: number;
  }

  function prove(nouns: IdentityNouns, { visit, user, data, now }: Prove): User {
    const { entry, ip } = visit;
    const { instance } = entry;
    nouns.identities.removeUnverified(user.seq);
    endSessions(nouns, { instance, user, actor: "service", reason: "take_over", now });
    // Links of others who tried this address before.
    nouns.oneTime.clear(user.seq, "verify_email");
    const { name, passwordHash } = data;
    const proven: User = { ...user, name, passwordHash, emailVerifiedAt: now, updatedAt: now };
    nouns.users.update(proven);
    const { id: userId, email } = user;
    audit(nouns, { instance, actor: "user", action: "user.verify_email", userId, email, ip, now });
    emitUser(nouns, { entry, type: "user.updated", user: proven, now });
    return proven;
  }
}

interface Found {
  row: OneTime;
  data: PendingData;
}

/** Somebody has proved the address, or an operator has vouched for a password. */
function isEstablished(user: User): boolean {
  return user.emailVerifiedAt !== undefined || user.passwordHash !== undefined || user.bannedAt !== undefined;
}

function deviceOf({ device }: Visit): string | undefined {
  return device === undefined ? undefined : hexOf(hashOf(device.device));
}

function isSameBrowser(visit: Visit, data: PendingData): boolean {
  return data.device !== undefined && deviceOf(visit) === data.device;
}

function cleanName(text: string): string {
  return text
    .replace(/\p{Cc}/gu, "")
    .trim()
    .toWellFormed();
}
