import { readableEmail } from "../../base/pure/domain-names.ts";
import { normaliseEmail } from "../core/email.ts";
import type { User } from "../store/records.ts";
import { auditAttempt } from "./audit.ts";
import type { ProviderButton } from "./code-exchange.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { type CompleteSignIn, type SignedIn, currentSession } from "./complete-sign-in.ts";
import { attemptsBy, type FormOutcome, laneOf, tried } from "./forms.ts";
import { titleOf } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import type { Providers } from "./providers.ts";
import { hashOf } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import { revokeSession } from "./sessions.ts";
import type { Browser } from "./browser.ts";

/** What a hosted page of an instance offers. */
export interface Offer {
  title: string;
  providers: ProviderButton[];
  /** Address and password. */
  email: boolean;
  signUp: boolean;
  /** Who is signed in here already. */
  current: { name: string; email: string } | undefined;
}

interface PasswordForm {
  email: string;
  password: string;
  redirectUri: string;
}

export interface SignIn {
  /** What the instance offers to this browser. */
  offer(browser: Browser): Offer;
  /** The name of an instance on its pages. */
  title(entry: InstanceEntry): string;
  /** The address to send browsers back to, as it may be used; undefined when the instance does not know it. */
  redirect(browser: Browser, redirectUri: string): string | undefined;
  withPassword(browser: Browser, form: PasswordForm): Promise<FormOutcome>;
  /** Continues as the user who is signed in here; undefined when none is. */
  goOn(browser: Browser, redirectUri: string): Promise<SignedIn | undefined>;
  /** Whether this browser is signed in with the session that has this id. */
  isSession(browser: Browser, sessionId: string): boolean;
  /** Ends the session of this browser. */
  out(browser: Browser): Promise<void>;
}

interface SignInParts {
  context: IdentityContext;
  providers: Providers;
  passwords: Passwords;
  completeSignIn: CompleteSignIn;
}

export function createSignIn(parts: SignInParts): SignIn {
  return {
    title: (entry) => titleOf(parts.context.store, entry),
    redirect: (browser, redirectUri) => allowedRedirect(parts.context, browser, redirectUri),
    offer: (browser) => offerTo(parts, browser),
    withPassword: (browser, form) => signInWithPassword(parts, browser, form),
    goOn: (browser, redirectUri) => goOn(parts, browser, redirectUri),
    isSession: (browser, sessionId) =>
      currentSession(parts.context.store, browser, parts.context.clock.now())?.sessionId === sessionId,
    out: (browser) => signOut(parts, browser),
  };
}

/** Whether an instance knows people by address and password. */
export function offersPassword({ settings }: InstanceEntry): boolean {
  return settings.email_signin && settings.password_signin;
}

const readable = ({ email }: User) => readableEmail(email);

function offerTo({ context, providers }: SignInParts, browser: Browser): Offer {
  const { entry } = browser;
  const { store, clock } = context;
  const session = currentSession(store, browser, clock.now());
  const user = session === undefined ? undefined : store.users.bySeq(session.user);
  const isWelcome = user !== undefined && user.bannedAt === undefined;
  return {
    title: titleOf(store, entry),
    providers: providers.buttons(entry.instance.seq),
    email: offersPassword(entry),
    signUp: offersPassword(entry) && entry.settings.email_signup,
    current: isWelcome ? { name: user.name || readable(user), email: readable(user) } : undefined,
  };
}

async function signInWithPassword(parts: SignInParts, browser: Browser, form: PasswordForm): Promise<FormOutcome> {
  const { context } = parts;
  const redirectUri = allowedRedirect(context, browser, form.redirectUri);
  if (redirectUri === undefined) return { end: "redirect" };
  if (!offersPassword(browser.entry)) return { end: "provider" };
  const email = normaliseEmail(form.email);
  if (email === undefined) return { problem: "credentials" };
  const user = context.store.users.byEmail(browser.entry.instance.seq, email);
  const { key, isKnown } = attemptsBy(context, browser, { email, user });
  const seconds = context.rateLimits.locked(key);
  if (seconds !== undefined) return { problem: "rate", seconds };
  const perAccount = { bucket: "sign_in_account", key } as const;
  const perClient = isKnown ? undefined : "sign_in";
  return tried(context, browser, { perClient, perAccount }, async () => {
    const { password } = form;
    // Takes as long for an address that no user has.
    const verdict = await parts.passwords.verify(password, user?.passwordHash, laneOf(browser));
    if (verdict === "wrong" || user === undefined || user.bannedAt !== undefined || user.placeholder) {
      context.rateLimits.failed(key);
      await recordFailure(parts, browser, email);
      return { problem: "credentials" } as const;
    }
    context.rateLimits.passed(key);
    return letIn(parts, browser, { user, password, isOutdated: verdict === "outdated", redirectUri });
  });
}

function recordFailure({ context }: SignInParts, { entry, ip }: Browser, email: string): Promise<void> {
  const { instance } = entry;
  const act = { instance, actor: "user", action: "signin.fail", email, provider: "password", ip };
  const detail = { why: "wrong address or password" };
  const now = context.clock.now();
  return context.store.write((nouns) => auditAttempt(nouns, { ...act, detail, now }, context.limits));
}

interface LettingIn {
  user: User;
  password: string;
  /** The hash is made again. */
  isOutdated: boolean;
  redirectUri: string;
}

async function letIn(
  { context, passwords, completeSignIn }: SignInParts,
  browser: Browser,
  { user, password, isOutdated, redirectUri }: LettingIn,
): Promise<FormOutcome> {
  const fresh = isOutdated ? await passwords.hash(password, laneOf(browser)) : undefined;
  const now = context.clock.now();
  return context.store.write((nouns): FormOutcome => {
    // It took a while: what was true before may not be any more.
    const present = nouns.users.bySeq(user.seq);
    const isSame = present?.passwordHash === user.passwordHash && present?.bannedAt === undefined;
    if (present === undefined || !isSame) return { problem: "credentials" };
    const updated = fresh === undefined ? present : { ...present, passwordHash: fresh };
    if (fresh !== undefined) nouns.users.update(updated);
    return completeSignIn(nouns, { browser, user: updated, provider: "password", redirectUri, now });
  });
}

function goOn(
  { context, completeSignIn }: SignInParts,
  browser: Browser,
  redirectUri: string,
): Promise<SignedIn | undefined> {
  const now = context.clock.now();
  return context.store.write((nouns) => {
    const session = currentSession(nouns, browser, now);
    const user = session === undefined ? undefined : nouns.users.bySeq(session.user);
    if (session === undefined || user === undefined || user.bannedAt !== undefined) return undefined;
    return completeSignIn(nouns, { browser, user, provider: session.provider, redirectUri, now });
  });
}

async function signOut({ context }: SignInParts, browser: Browser): Promise<void> {
  const { device, entry } = browser;
  if (device === undefined) return;
  const now = context.clock.now();
  await context.store.write((nouns) => {
    const session = currentSession(nouns, browser, now);
    const user = session === undefined ? undefined : nouns.users.bySeq(session.user);
    nouns.browsers.remove(hashOf(device.login));
    if (session === undefined || user === undefined) return;
    const { instance } = entry;
    revokeSession(nouns, { instance, session, userId: user.id, actor: "user", reason: "sign_out", now });
  });
}
