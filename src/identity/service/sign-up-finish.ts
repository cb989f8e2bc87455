import type { IdentityNouns } from "../store/open-store.ts";
import type { User } from "../store/records.ts";
import { audit } from "./audit.ts";
import { accountKey, type FormOutcome, type FormProblem, laneOf, tried } from "./forms.ts";
import { hexOf } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import { endSessions } from "./sessions.ts";
import { findSignUp, type FoundSignUp, isEstablished, isSameBrowser, type SignUpParts } from "./sign-up-parts.ts";
import { emitUser, provedEvent } from "./user-events.ts";
import { removeUser } from "./users.ts";
import type { Browser } from "./browser.ts";

export interface UsedLink {
  value: string;
  /** Needed in another browser than the one that began. */
  password: string | undefined;
}

/** Proves the address, and lets in. */
export async function finishSignUp(parts: SignUpParts, browser: Browser, link: UsedLink): Promise<FormOutcome> {
  const { store, clock, rateLimits } = parts.context;
  const found = findSignUp(store, browser, { value: link.value, now: clock.now() });
  if (found === undefined) return { end: "link" };
  const problem = isSameBrowser(browser, found.data)
    ? undefined
    : await foreignProblem(parts, browser, { found, link });
  if (problem !== undefined) return problem;
  const now = clock.now();
  const outcome = await store.write((nouns): FormOutcome => {
    const row = nouns.oneTime.take(found.row.hash, "verify_email");
    const user = row?.user === undefined ? undefined : nouns.users.bySeq(row.user);
    const redirectUri = allowedRedirect(parts.context, browser, found.data.redirectUri);
    if (user === undefined || isEstablished(user)) return { end: "link" };
    if (redirectUri === undefined) return { end: "redirect" };
    const proven = prove(nouns, { browser, user, found, now });
    return parts.completeSignIn(nouns, { browser, user: proven, provider: "password", redirectUri, now });
  });
  if ("delivery" in outcome) rateLimits.giveBackClient("sign_up", found.data.client ?? "", now - found.row.createdAt);
  return outcome;
}

/** Reading the mail alone must not make a stranger's password valid. */
async function foreignProblem(
  { context, passwords }: SignUpParts,
  browser: Browser,
  { found, link }: { found: FoundSignUp; link: UsedLink },
): Promise<FormProblem | undefined> {
  const { rateLimits } = context;
  const account = accountKey(browser, hexOf(found.row.hash));
  const seconds = rateLimits.locked(account);
  if (seconds !== undefined) return { problem: "rate", seconds };
  return tried(context, browser, { perClient: "sign_in" }, async () => {
    const verdict = await passwords.verify(link.password ?? "", found.data.passwordHash, laneOf(browser));
    if (verdict !== "wrong") {
      rateLimits.passed(account);
      return undefined;
    }
    rateLimits.failed(account);
    return { problem: "credentials" } as const;
  });
}

function prove(
  nouns: IdentityNouns,
  { browser, user, found, now }: { browser: Browser; user: User; found: FoundSignUp; now: number },
): User {
  const { entry, ip } = browser;
  const { instance } = entry;
  // By the link that was used: its row has gone already.
  const type = found.data.isNew ? "user.created" : provedEvent(nouns, user);
  nouns.identities.removeUnproved(user.seq, user.email);
  endSessions(nouns, { instance, user, actor: "service", reason: "take_over", now });
  // Links of others who tried this address before.
  nouns.oneTime.clear(user.seq, "verify_email");
  const { name, passwordHash } = found.data;
  const proven: User = { ...user, name, passwordHash, emailVerifiedAt: now, updatedAt: now };
  nouns.users.update(proven);
  const { id: userId, email } = user;
  audit(nouns, { instance, actor: "user", action: "user.verify_email", userId, email, ip, now });
  emitUser(nouns, { entry, type, user: proven, now });
  return proven;
}

/**
 * Removes users who came with a sign-up that was not finished in time; inside a write. At most `most` links at a
 * time; returns how many of them there were.
 */
export function dropAbandoned(nouns: IdentityNouns, now: number, most: number): number {
  const links = nouns.oneTime.takeExpired("verify_email", now, most);
  for (const { instance: seq, user: userSeq, data } of links) {
    const user = userSeq === undefined || data.isNew !== true ? undefined : nouns.users.bySeq(userSeq);
    const instance = nouns.instances.bySeq(seq);
    if (user === undefined || instance === undefined || isEstablished(user)) continue;
    const waiting = nouns.oneTime.waiting(user.seq, "verify_email", now);
    const isInUse = waiting.length > 0 || nouns.identities.list(user.seq).length > 0;
    if (!isInUse) removeUser(nouns, { instance, user, actor: "service", now, isKnown: false });
  }
  return links.length;
}
