import { normaliseEmail } from "../core/identity/email.ts";
import { checkRedirect } from "../core/identity/redirect.ts";
import type { User } from "../store/identity/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { type Admit, type Admitted, currentSession } from "./entrance.ts";
import { accountKey, type FormOutcome, takeRates } from "./forms.ts";
import { titleOf } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import type { ProviderButton, Providers } from "./providers.ts";
import { hashOf } from "./random.ts";
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

export interface SignIn {
  /** What the instance offers to this browser. */
  offer(visit: Visit): Offer;
  /** The name of an instance on its pages. */
  title(entry: InstanceEntry): string;
  /** The address to send browsers back to, as it may be used; undefined when the instance does not know it. */
  redirect(entry: InstanceEntry, redirectUri: string): string | undefined;
  withPassword(visit: Visit, form: { email: string; password: string; redirectUri: string }): Promise<FormOutcome>;
  /** Goes on as whoever is signed in here; undefined when nobody is. */
  goOn(visit: Visit, redirectUri: string): Promise<Admitted | undefined>;
  /** Ends the session of this browser. */
  out(visit: Visit): Promise<void>;
}

export interface SignInParts {
  context: IdentityContext;
  providers: Providers;
  passwords: Passwords;
  admit: Admit;
}

export function createSignIn({ context, providers, passwords, admit }: SignInParts): SignIn {
  const { store, clock, rateLimits } = context;
  const offersPassword = ({ settings }: InstanceEntry) => settings.email_signin && settings.password_signin;
  const redirect = (entry: InstanceEntry, redirectUri: string) => {
    const checked = checkRedirect(redirectUri, entry.settings);
    return checked.ok ? checked.value : undefined;
  };

  function currentUser(visit: Visit): User | undefined {
    const session = currentSession(store, visit, clock.now());
    const user = session === undefined ? undefined : store.users.bySeq(session.user);
    return user?.bannedAt === undefined ? user : undefined;
  }

  /** The user whose password it is. Takes as long for an address that nobody has. */
  async function owner(visit: Visit, email: string, password: string): Promise<User | undefined> {
    const user = store.users.byEmail(visit.entry.instance.seq, email);
    const isRight = await passwords.verify(password, user?.passwordHash);
    return isRight && user?.bannedAt === undefined && user?.placeholder === false ? user : undefined;
  }

  async function refuse(visit: Visit, email: string, why: string): Promise<void> {
    const { entry, ip } = visit;
    const provider = "password";
    await store.write((nouns) =>
      audit(nouns, {
        instance: entry.instance,
        actor: "user",
        action: "signin.fail",
        email,
        provider,
        ip,
        detail: { why },
        now: clock.now(),
      }),
    );
  }

  return {
    title: (entry) => titleOf(store, entry),
    redirect,
    offer(visit) {
      const { entry } = visit;
      const current = currentUser(visit);
      return {
        title: titleOf(store, entry),
        providers: providers.buttons(entry.instance.seq),
        email: offersPassword(entry),
        signUp: offersPassword(entry) && entry.settings.email_signup,
        current: current && { name: current.name || current.email, email: current.email },
      };
    },
    async withPassword(visit, form) {
      const { entry } = visit;
      const redirectUri = redirect(entry, form.redirectUri);
      if (redirectUri === undefined) return { end: "redirect" };
      if (!offersPassword(entry)) return { end: "provider" };
      const email = normaliseEmail(form.email);
      if (email === undefined) return { problem: "credentials" };
      const late = takeRates(context, visit, { perClient: "sign_in", perAccount: "sign_in_account", email });
      if (late !== undefined) return late;
      const account = accountKey(visit, email);
      const locked = rateLimits.locked(account);
      if (locked !== undefined) return { problem: "rate", seconds: locked };
      const user = await owner(visit, email, form.password);
      if (user === undefined) {
        rateLimits.failed(account);
        await refuse(visit, email, "wrong address or password");
        return { problem: "credentials" };
      }
      rateLimits.passed(account);
      const fresh = passwords.isOutdated(user.passwordHash ?? "") ? await passwords.hash(form.password) : undefined;
      const now = clock.now();
      return store.write((nouns): FormOutcome => {
        // It took a while: what was true before may not be any more.
        const present = nouns.users.bySeq(user.seq);
        const isSame = present?.passwordHash === user.passwordHash && present?.bannedAt === undefined;
        if (present === undefined || !isSame) return { problem: "credentials" };
        const updated = fresh === undefined ? present : { ...present, passwordHash: fresh };
        if (fresh !== undefined) nouns.users.update(updated);
        return admit(nouns, { visit, user: updated, provider: "password", redirectUri, now });
      });
    },
    goOn(visit, redirectUri) {
      const now = clock.now();
      return store.write((nouns) => {
        const session = currentSession(nouns, visit, now);
        const user = session === undefined ? undefined : nouns.users.bySeq(session.user);
        if (session === undefined || user === undefined || user.bannedAt !== undefined) return undefined;
        return admit(nouns, { visit, user, provider: session.provider, redirectUri, now });
      });
    },
    async out(visit) {
      const { device, entry } = visit;
      if (device === undefined) return;
      const now = clock.now();
      await store.write((nouns) => {
        const session = currentSession(nouns, visit, now);
        const user = session === undefined ? undefined : nouns.users.bySeq(session.user);
        nouns.browsers.remove(hashOf(device.login));
        if (session === undefined || user === undefined) return;
        const { instance } = entry;
        revokeSession(nouns, { instance, session, userId: user.id, actor: "user", reason: "sign_out", now });
      });
    },
  };
}
