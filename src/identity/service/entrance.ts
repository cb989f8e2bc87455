import type { IdentityNouns } from "../store/open-store.ts";
import type { Session, User } from "../store/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import { deliver, type Delivery } from "./delivery.ts";
import { hashOf, hexOf, randomSecret } from "./random.ts";
import { isOpen, renewSession, startSession } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";
import type { DeviceCookie, Visit } from "./visit.ts";

interface Admission {
  visit: Visit;
  user: User;
  /** `password` or the name of a provider. */
  provider: string;
  /** Checked. */
  redirectUri: string;
  now: number;
}

export interface Admitted {
  delivery: Delivery;
  /** For the browser to keep instead of what it had. */
  device: DeviceCookie;
}

/** Lets somebody in who has proved who they are: session, browser and token, inside one write. */
export type Admit = (nouns: IdentityNouns, admission: Admission) => Admitted;

type EntranceContext = Pick<IdentityContext, "limits" | "randomBytes">;

export function createEntrance(context: EntranceContext, tokens: Pick<Tokens, "issue">): Admit {
  return function admit(nouns, admission) {
    const { visit, user, provider, redirectUri, now } = admission;
    const { entry } = visit;
    const device = { device: visit.device?.device ?? randomSecret(context), login: randomSecret(context) };
    const session = sessionFor(nouns, admission, hexOf(hashOf(device.device)));
    if (visit.device !== undefined) nouns.browsers.remove(hashOf(visit.device.login));
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
      ip: visit.ip,
      now,
    });
    const token = tokens.issue({ entry, user, session });
    return { delivery: deliver(context, nouns, { entry, redirectUri, token, user: user.seq, now }), device };
  };
}

/** A browser that comes back to its own session goes on with it; everybody else gets a new one. */
function sessionFor(nouns: IdentityNouns, { visit, user, provider, now }: Admission, device: string): Session {
  const { ip, userAgent } = visit;
  const { instance } = visit.entry;
  const current = currentSession(nouns, visit, now);
  if (current?.user === user.seq && current.provider === provider) {
    return renewSession(nouns, current, { user, ip, userAgent, now });
  }
  return startSession(nouns, { instance, user, provider, ip, userAgent, device, now });
}

/** The session that a browser is signed in with; undefined when it has none, or none that is still good. */
export function currentSession(
  nouns: Pick<IdentityNouns, "browsers" | "sessions">,
  { entry, device }: Visit,
  now: number,
): Session | undefined {
  if (device === undefined) return undefined;
  const browser = nouns.browsers.get(entry.instance.seq, hashOf(device.login));
  if (browser === undefined || browser.expiresAt <= now) return undefined;
  const session = nouns.sessions.bySeq(browser.session);
  return session !== undefined && isOpen(session, entry.instance, now) ? session : undefined;
}
