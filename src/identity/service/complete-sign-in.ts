import { Failure } from "../../base/wire/failure.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Session, User } from "../store/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import { deliverToken, type TokenDelivery } from "./token-delivery.ts";
import { hashOf, hexOf, randomSecret } from "./random.ts";
import { isOpen, renewSession, startSession } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";
import type { DeviceCookie, Browser } from "./browser.ts";

interface ProvedSignIn {
  browser: Browser;
  user: User;
  /** `password` or the name of a provider. */
  provider: string;
  /** Checked. */
  redirectUri: string;
  now: number;
}

export interface SignedIn {
  delivery: TokenDelivery;
  /** For the browser to keep instead of what it had. */
  device: DeviceCookie;
}

/**
 * Signs in a user who has proved who they are: session, browser and token, inside one write. Fails `too_many` for a user
 * with too many new sessions: a right sign-in counts against no address, and must not grow without end.
 */
export type CompleteSignIn = (nouns: IdentityNouns, proved: ProvedSignIn) => SignedIn;

type CompleteContext = Pick<IdentityContext, "limits" | "randomBytes" | "rateLimits">;

export function createCompleteSignIn(context: CompleteContext, tokens: Pick<Tokens, "issue">): CompleteSignIn {
  return function completeSignIn(nouns, proved) {
    const { browser, user, provider, redirectUri, now } = proved;
    const { entry } = browser;
    const device = { device: browser.device?.device ?? randomSecret(context), login: randomSecret(context) };
    const session = sessionFor(context, nouns, { ...proved, deviceHash: hexOf(hashOf(device.device)) });
    if (browser.device !== undefined) nouns.browsers.remove(hashOf(browser.device.login));
    nouns.browsers.put({
      hash: hashOf(device.login),
      instance: entry.instance.seq,
      session: session.seq,
      createdAt: now,
      expiresAt: session.expiresAt ?? now + context.limits.signIn.deviceMs,
    });
    const { id: userId, email } = user;
    const { sessionId } = session;
    const { instance } = entry;
    audit(nouns, {
      instance,
      actor: "user",
      action: "signin.ok",
      userId,
      email,
      sessionId,
      provider,
      ip: browser.ip,
      now,
    });
    const token = tokens.issue({ entry, user, session });
    return { delivery: deliverToken(context, nouns, { entry, redirectUri, token, user: user.seq, now }), device };
  };
}

/** A browser that comes back to its own session goes on with it; everybody else gets a new one. */
function sessionFor(
  { rateLimits }: CompleteContext,
  nouns: IdentityNouns,
  { browser, user, provider, now, deviceHash: device }: ProvedSignIn & { deviceHash: string },
): Session {
  const { ip, userAgent } = browser;
  const { instance } = browser.entry;
  const current = currentSession(nouns, browser, now);
  if (current?.user === user.seq && current.provider === provider) {
    return renewSession(nouns, current, { user, ip, userAgent, now });
  }
  const retryAfterSeconds = rateLimits.take("signed_in", String(user.seq));
  if (retryAfterSeconds !== undefined) {
    throw new Failure("too_many", "this user has signed in too often; try again later", { retryAfterSeconds });
  }
  return startSession(nouns, { instance, user, provider, ip, userAgent, device, now });
}

/** The session that a browser is signed in with; undefined when it has none, or none that is still good. */
export function currentSession(
  nouns: Pick<IdentityNouns, "browsers" | "sessions">,
  { entry, device }: Browser,
  now: number,
): Session | undefined {
  if (device === undefined) return undefined;
  const signedIn = nouns.browsers.get(entry.instance.seq, hashOf(device.login));
  if (signedIn === undefined || signedIn.expiresAt <= now) return undefined;
  const session = nouns.sessions.bySeq(signedIn.session);
  return session !== undefined && isOpen(session, entry.instance, now) ? session : undefined;
}
