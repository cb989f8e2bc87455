import { normaliseEmail } from "../core/email.ts";
import type { User } from "../store/records.ts";
import { auditAttempt } from "./audit.ts";
import type { ProviderButton } from "./code-exchange.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { type Admit, type Admitted, currentSession } from "./entrance.ts";
import { attemptsKey, counted, type FormOutcome, laneOf } from "./forms.ts";
import { titleOf } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import type { Providers } from "./providers.ts";
import { hashOf } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import { revokeSession } from "./sessions.ts";
import type { Visit } from "./visit.ts";

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
  offer(visit: Visit): Offer;
  /** The name of an instance on its pages. */
  title(entry: InstanceEntry): string;
  /** The address to send browsers back to, as it may be used; undefined when the instance does not know it. */
  redirect(visit: Visit, redirectUri: string): string | undefined;
  withPassword(visit: Visit, form: PasswordForm): Promise<FormOutcome>;
  /** Goes on as whoever is signed in here; undefined when nobody is. */
  goOn(visit: Visit, redirectUri: string): Promise<Admitted | undefined>;
  /** Whether this browser is signed in with the session that has this id. */
  isSession(visit: Visit, sessionId: string): boolean;
  /** Ends the session of this browser. */
  out(visit: Visit): Promise<void>;
}

interface SignInParts {
  context: IdentityContext;
  providers: Providers;
  passwords: Passwords;
  admit: Admit;
}

export function createSignIn(parts: SignInParts): SignIn {
  return {
    title: (entry) => titleOf(parts.context.store, entry),
    redirect: (visit, redirectUri) => allowedRedirect(parts.context, visit, redirectUri),
    offer: (visit) => offerTo(parts, visit),
    withPassword: (visit, form) => signInWithPassword(parts, visit, form),
    goOn: (visit, redirectUri) => goOn(parts, visit, redirectUri),
    isSession: (visit, sessionId) =>
      currentSession(parts.context.store, visit, parts.context.clock.now())?.sessionId === sessionId,
    out: (visit) => signOut(parts, visit),
  };
}

/** Whether an instance knows people by address and password. */
export function offersPassword({ settings }: InstanceEntry): boolean {
  return settings.email_signin && settings.password_signin;
}

function offerTo({ context, providers }: SignInParts, visit: Visit): Offer {
  const { entry } = visit;
  const { store, clock } = context;
  const session = currentSession(store, visit, clock.now());
  const user = session === undefined ? undefined : store.users.bySeq(session.user);
  const isWelcome = user !== undefined && user.bannedAt === undefined;
  return {
    title: titleOf(store, entry),
    providers: providers.buttons(entry.instance.seq),
    email: offersPassword(entry),
    signUp: offersPassword(entry) && entry.settings.email_signup,
    current: isWelcome ? { name: user.name || user.email, email: user.email } : undefined,
  };
}

async function signInWithPassword(parts: SignInParts, visit: Visit, form: PasswordForm): Promise<FormOutcome> {
  const { context } = parts;
  const redirectUri = allowedRedirect(context, visit, form.redirectUri);
  if (redirectUri === undefined) return { end: "redirect" };
  if (!offersPassword(visit.entry)) return { end: "provider" };
  const email = normaliseEmail(form.email);
  if (email === undefined) return { problem: "credentials" };
  const user = context.store.users.byEmail(visit.entry.instance.seq, email);
  const key = attemptsKey(context, visit, { email, user });
  const seconds = context.rateLimits.locked(key);
  if (seconds !== undefined) return { problem: "rate", seconds };
  const perAccount = { bucket: "sign_in_account", key } as const;
  return counted(context, visit, { perClient: "sign_in", perAccount }, async () => {
    const { password } = form;
    // Takes as long for an address that nobody has.
    const isRight = await parts.passwords.verify(password, user?.passwordHash, laneOf(visit));
    if (!isRight || user === undefined || user.bannedAt !== undefined || user.placeholder) {
      context.rateLimits.failed(key);
      await recordFailure(parts, visit, email);
      return { problem: "credentials" } as const;
    }
    context.rateLimits.passed(key);
    return letIn(parts, visit, { user, password, redirectUri });
  });
}

function recordFailure({ context }: SignInParts, { entry, ip }: Visit, email: string): Promise<void> {
  const { instance } = entry;
  const act = { instance, actor: "user", action: "signin.fail", email, provider: "password", ip };
  const detail = { why: "wrong address or password" };
  const now = context.clock.now();
  return context.store.write((nouns) => auditAttempt(nouns, { ...act, detail, now }, context.limits));
}

interface LettingIn {
  user: User;
  password: string;
  redirectUri: string;
}

async function letIn(
  { context, passwords, admit }: SignInParts,
  visit: Visit,
  { user, password, redirectUri }: LettingIn,
): Promise<FormOutcome> {
  const fresh = passwords.isOutdated(user.passwordHash ?? "")
    ? await passwords.hash(password, laneOf(visit))
    : undefined;
  const now = context.clock.now();
  return context.store.write((nouns): FormOutcome => {
    // It took a while: what was true before may not be any more.
    const present = nouns.users.bySeq(user.seq);
    const isSame = present?.passwordHash === user.passwordHash && present?.bannedAt === undefined;
    if (present === undefined || !isSame) return { problem: "credentials" };
    const updated = fresh === undefined ? present : { ...present, passwordHash: fresh };
    if (fresh !== undefined) nouns.users.update(updated);
    return admit(nouns, { visit, user: updated, provider: "password", redirectUri, now });
  });
}

function goOn({ context, admit }: SignInParts, visit: Visit, redirectUri: string): Promise<Admitted | undefined> {
  const now = context.clock.now();
  return context.store.write((nouns) => {
    const session = currentSession(nouns, visit, now);
    const user = session === undefined ? undefined : nouns.users.bySeq(session.user);
    if (session === undefined || user === undefined || user.bannedAt !== undefined) return undefined;
    return admit(nouns, { visit, user, provider: session.provider, redirectUri, now });
  });
}

async function signOut({ context }: SignInParts, visit: Visit): Promise<void> {
  const { device, entry } = visit;
  if (device === undefined) return;
  const now = context.clock.now();
  await context.store.write((nouns) => {
    const session = currentSession(nouns, visit, now);
    const user = session === undefined ? undefined : nouns.users.bySeq(session.user);
    nouns.browsers.remove(hashOf(device.login));
    if (session === undefined || user === undefined) return;
    const { instance } = entry;
    revokeSession(nouns, { instance, session, userId: user.id, actor: "user", reason: "sign_out", now });
  });
}
