import { timingSafeEqual } from "node:crypto";
import { sha256Bytes } from "../../../base/pure/digest.ts";
import { clientNetwork } from "../../../base/pure/client-network.ts";
import { signedInPath } from "../../api/people.ts";
import { returnPath } from "../../core/people/places.ts";
import type { Person } from "../../store/records.ts";
import { auditNote } from "../audit.ts";
import type { ObservabilityContext } from "../context.ts";
import type { Rates } from "../rates.ts";
import type { Browser, OpenSession } from "../sessions.ts";
import type { SignedInUser } from "./identity.ts";
import { readSignIn } from "./instance.ts";

/**
 * Why a browser was not let in. `over`: the answer is of no sign-in that this browser has begun, or came too late;
 * `denied`: the identity service says no; `role`: the person has no role here; `off`: this way to sign in is turned off.
 */
export type SignInProblem =
  { kind: "over" } | { kind: "denied" } | { kind: "off" } | { kind: "role"; email: string; isVerified: boolean };

interface Start {
  browser: Browser;
  /** Where the browser reached us. */
  origin: string;
  /** The page that it wanted to see. */
  to: string | null;
}

interface Finish {
  browser: Browser;
  state: string | null;
  code: string | null;
  /** What the cookie of the browser says. */
  secret: string | undefined;
}

/** The way through the hosted pages and back: an authorization code, and a state that is bound to the browser. */
export interface PersonSignIn {
  /** What the button says; undefined while this way is closed. */
  title(): Promise<string | undefined>;
  /** `secret` goes into a cookie. Undefined while this way is closed. */
  start(start: Start): Promise<{ location: string; secret: string; maxAgeMs: number } | undefined>;
  /** Fails `too_many` for a client that goes on coming back with answers that are none. */
  finish(finish: Finish): Promise<{ open: OpenSession; to: string } | { problem: SignInProblem }>;
}

interface Parts {
  rates: Pick<Rates, "checkClient" | "failed">;
  begin: (person: Person, found: SignedInUser, browser: Browser) => Promise<OpenSession>;
}

interface Pending {
  /** SHA-256 of the secret in the cookie. */
  secret: Uint8Array;
  to: string;
  near: string;
  /** On the steady clock. */
  until: number;
}

const secretBytes = 32;

export function createPersonSignIn(context: ObservabilityContext, { rates, begin }: Parts): PersonSignIn {
  const { store, clock, randomBytes, people, limits } = context;
  const { pendingMs, pendingMax, pendingOfClientMax } = limits.people;
  const pending = new Map<string, Pending>();
  const random = () => Buffer.from(randomBytes(secretBytes)).toString("base64url");
  /** One client cannot push out those of others. */
  const makeRoom = (near: string) => {
    for (const [state, { until }] of pending) if (until <= clock.steady()) pending.delete(state);
    const own = [...pending].filter(([, one]) => one.near === near);
    for (const [state] of own.slice(0, Math.max(0, own.length - pendingOfClientMax + 1))) pending.delete(state);
    const [oldest] = pending.size >= pendingMax ? pending.keys() : [];
    if (oldest !== undefined) pending.delete(oldest);
  };
  /** Taken out before anything is asked: a state is good once, whatever comes of it. */
  const take = (state: string | null, secret: string | undefined): Pending | undefined => {
    const found = state === null ? undefined : pending.get(state);
    if (state !== null) pending.delete(state);
    if (found === undefined || found.until <= clock.steady() || secret === undefined) return undefined;
    return timingSafeEqual(hashOf(secret), found.secret) ? found : undefined;
  };
  return {
    title: async () => (people.isServed ? (await readSignIn(context))?.title : undefined),
    async start({ browser, origin, to }) {
      const signIn = people.isServed ? await readSignIn(context) : undefined;
      if (signIn === undefined) return undefined;
      const { near } = clientNetwork(browser.ip);
      makeRoom(near);
      const [state, secret] = [random(), random()];
      pending.set(state, { secret: hashOf(secret), to: returnPath(to), near, until: clock.steady() + pendingMs });
      const back = `${origin}${signedInPath}?state=${state}`;
      const location = `${signIn.sign_in_url}?${new URLSearchParams({ redirect_uri: back })}`;
      return { location, secret, maxAgeMs: pendingMs };
    },
    async finish({ browser, state, code, secret }) {
      const known = take(state, secret);
      if (known === undefined) {
        rates.checkClient(browser.ip);
        rates.failed(browser.ip);
        return { problem: { kind: "over" } };
      }
      const instance = store.people.instance();
      if (instance === undefined) return { problem: { kind: "off" } };
      // The identity service came back with an error, such as access_denied.
      if (code === null) return { problem: { kind: "denied" } };
      const found = await people.redeem(instance, code);
      if (found === undefined) return { problem: { kind: "over" } };
      const person = personOf(context, found);
      if (person === undefined) {
        await refused(context, found, browser);
        return { problem: { kind: "role", email: found.email, isVerified: found.emailVerified } };
      }
      return { open: await begin(person, found, browser), to: known.to };
    },
  };
}

/**
 * The person behind a user. An address counts at the first sign-in alone, and only a proven one: later the user counts,
 * so that a new account with the address of a former colleague is a stranger.
 */
function personOf({ store }: Pick<ObservabilityContext, "store">, found: SignedInUser): Person | undefined {
  const bound = store.people.byUser(found.user);
  if (bound !== undefined) return bound;
  const named = found.emailVerified ? store.people.byEmail(found.email) : undefined;
  return named?.user === undefined ? named : undefined;
}

async function refused(
  { store, clock }: ObservabilityContext,
  { email }: SignedInUser,
  { ip }: Browser,
): Promise<void> {
  const done = { actor: `person:${email}`, ip, action: `GET ${signedInPath}`, target: signedInPath };
  await store.write(({ audit }) => audit.append({ ...auditNote(clock.now(), done), outcome: "status 403" }));
}

function hashOf(secret: string): Uint8Array {
  return sha256Bytes([Buffer.from(secret)]);
}
