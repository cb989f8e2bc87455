import { createHmac, timingSafeEqual } from "node:crypto";
import { createGuardedFetch } from "../../base/deliver/guarded-fetch.ts";
import type { SendMail } from "../../base/deliver/mail.ts";
import { authorize, type AuthorizeWish } from "./authorize.ts";
import { takeCallback } from "./callback.ts";
import type { IdentityContext } from "./context.ts";
import { redeemCode } from "./token-delivery.ts";
import type { InstanceEntry } from "./directory.ts";
import { createCompleteSignIn } from "./complete-sign-in.ts";
import type { AuthorizeOutcome, CallbackOutcome, ProviderAnswer } from "./flow-parts.ts";
import { createMailing, type Mailing } from "./mails.ts";
import { createOidc } from "./oidc.ts";
import { createPasswords, type Passwords } from "./passwords.ts";
import { createProviders, type Providers } from "./providers.ts";
import { randomSecret } from "./random.ts";
import { createReset, type Reset } from "./reset.ts";
import { createSignIn, type SignIn } from "./sign-in.ts";
import type { Tokens } from "./tokens.ts";
import type { FormOutcome } from "./forms.ts";
import { beginSignUp, type SignUpForm } from "./sign-up-begin.ts";
import { finishSignUp, type UsedLink } from "./sign-up-finish.ts";
import { findSignUp, isSameBrowser, type SignUpParts } from "./sign-up-parts.ts";
import type { Browser } from "./browser.ts";

/** What stands behind the hosted pages. */
export interface Hosted {
  /** Where browsers reach the service, without a slash at the end. */
  baseUrl: string;
  signIn: SignIn;
  signUp: SignUp;
  reset: Reset;
  /** Sends a browser to a provider; `callback` takes it when it comes back (docs/contract/identity.md, 1.1). */
  authorize(wish: AuthorizeWish, signal: AbortSignal): Promise<AuthorizeOutcome>;
  callback(answer: ProviderAnswer, signal: AbortSignal): Promise<CallbackOutcome>;
  /** Epoch milliseconds. */
  now(): number;
  cookieAges: { flowMs: number; deviceMs: number };
  /** A new value for a cookie, 256 bits. */
  newSecret(): string;
  /** What a form of this browser carries, so that no other site can send it (RFC 9700 section 4.16). */
  formToken(entry: InstanceEntry, flow: string): string;
  isFormToken(entry: InstanceEntry, flow: string, token: string): boolean;
  /** As `redeemCode`. */
  redeem(entry: InstanceEntry, code: string): Promise<string | undefined>;
}

interface HostedParts {
  context: IdentityContext;
  tokens: Tokens;
  /** Undefined without a mail server. */
  send: SendMail | undefined;
}

interface HostedRooms {
  hosted: Hosted;
  mailing: Mailing;
  passwords: Passwords;
  providers: Pick<Providers, "buttons">;
}

const allowFlag = "--identity-allow-private-endpoints";

export function createHosted({ context, tokens, send }: HostedParts): HostedRooms {
  const { allowPrivate, resolve, fetch, clock } = context;
  const limits = context.limits.signIn;
  const guarded = createGuardedFetch({
    fetch,
    resolve,
    allowPrivate,
    allowFlag,
    headMs: limits.providerHeadMs,
    bodyBytesMax: limits.providerBodyBytesMax,
  });
  const providers = createProviders(context, guarded, createOidc({ fetch: guarded, clock, limits }));
  const passwords = createPasswords(limits);
  const mailing = createMailing({ context, send });
  const completeSignIn = createCompleteSignIn(context, tokens);
  const key = context.derive("identity form token v1");
  const formToken = ({ instance }: InstanceEntry, flow: string) =>
    createHmac("sha256", key.reveal()).update(`${instance.id}\0${flow}`).digest("base64url");
  const flow = { context, providers, completeSignIn };
  const hosted: Hosted = {
    baseUrl: context.baseUrl,
    signIn: createSignIn({ context, providers, passwords, completeSignIn }),
    signUp: createSignUp({ context, passwords, mailing, completeSignIn }),
    reset: createReset({ context, passwords, mailing }),
    authorize: (wish, signal) => authorize(flow, wish, signal),
    callback: (answer, signal) => takeCallback(flow, answer, signal),
    now: clock.now,
    cookieAges: { flowMs: limits.stateMs, deviceMs: limits.deviceMs },
    newSecret: () => randomSecret(context),
    formToken,
    isFormToken(entry, flow, token) {
      const [expected, given] = [Buffer.from(formToken(entry, flow)), Buffer.from(token)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
    redeem: (entry, code) => redeemCode(context, entry, code),
  };
  return { hosted, mailing, passwords, providers };
}

/** What a link of a sign-up opens. */
type Pending = { needsPassword: boolean; redirectUri: string } | undefined;

interface SignUp {
  begin(browser: Browser, form: SignUpForm): Promise<FormOutcome>;
  /** Looks at a link without using it up: mail programs open links on their own. */
  look(browser: Browser, value: string): Pending;
  finish(browser: Browser, link: UsedLink): Promise<FormOutcome>;
}

function createSignUp(parts: SignUpParts): SignUp {
  const { store, clock } = parts.context;
  return {
    begin: (browser, form) => beginSignUp(parts, browser, form),
    look(browser, value) {
      const found = findSignUp(store, browser, { value, now: clock.now() });
      if (found === undefined) return undefined;
      return { needsPassword: !isSameBrowser(browser, found.data), redirectUri: found.data.redirectUri };
    },
    finish: (browser, link) => finishSignUp(parts, browser, link),
  };
}
