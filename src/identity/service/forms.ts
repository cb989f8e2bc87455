import { Failure } from "../../base/wire/failure.ts";
import { clientNetwork } from "../../base/pure/client-network.ts";
import type { Lane } from "../../base/words/fair-limit.ts";
import type { User } from "../store/records.ts";
import type { RateBucket } from "./context.ts";
import type { IdentityContext } from "./context.ts";
import type { SignedIn } from "./complete-sign-in.ts";
import { hashOf, hexOf } from "./random.ts";
import type { Browser } from "./browser.ts";

/** What is wrong with a form that was sent; it is shown again. */
export type FormProblem =
  | { problem: "credentials" | "email" | "name" | "password_long" | "password_email" | "password_common" }
  | { problem: "password_short"; count: number }
  | { problem: "rate"; seconds: number };

/** What filling in the form again cannot fix. */
export type DeadEnd = { end: "redirect" | "provider" | "link" };

export type FormOutcome = FormProblem | DeadEnd | SignedIn | { sent: string };

type Limited = Pick<IdentityContext, "rateLimits">;

interface PerAccount {
  bucket: RateBucket;
  key: string;
}

/**
 * Does what is counted whatever comes of it, for its client and its account, such as a mail to an address. What is not
 * tried does not count: neither what is one too many for either of them, nor what found the server too busy.
 */
export async function counted<T>(
  { rateLimits }: Limited,
  { ip }: Browser,
  { perClient, perAccount }: { perClient: RateBucket; perAccount: PerAccount },
  attempt: () => Promise<T>,
): Promise<T | FormProblem> {
  const late = rateLimits.takeClient(perClient, ip);
  if (late !== undefined) return { problem: "rate", seconds: late };
  const lateForAccount = rateLimits.take(perAccount.bucket, perAccount.key);
  if (lateForAccount !== undefined) {
    rateLimits.giveBackClient(perClient, ip);
    return { problem: "rate", seconds: lateForAccount };
  }
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof Failure && error.code === "unavailable") {
      rateLimits.giveBackClient(perClient, ip);
      rateLimits.giveBack(perAccount.bucket, perAccount.key);
    }
    throw error;
  }
}

/** Tries a credential: only wrong ones are counted, for their client and their account. */
export async function tried<T extends object | undefined>(
  { rateLimits }: Limited,
  { ip }: Browser,
  { perClient, perAccount }: { perClient?: RateBucket | undefined; perAccount?: PerAccount },
  attempt: () => Promise<T>,
): Promise<T | FormProblem> {
  const client = perClient && { bucket: perClient, ip };
  const done = await rateLimits.attempt({ client, account: perAccount }, async () => {
    const result = await attempt();
    return { result, isFailure: result !== undefined && "problem" in result && result.problem === "credentials" };
  });
  return "late" in done ? { problem: "rate", seconds: done.late } : done.result;
}

/**
 * Does work whose length depends on whether there is a user with an address, in a time that does not: the answer comes
 * no sooner than `evenMs`, by when the work is done.
 */
export async function inEvenTime<T>(
  { clock, limits }: Pick<IdentityContext, "clock" | "limits">,
  work: () => Promise<T>,
): Promise<T> {
  const [result] = await Promise.all([work(), clock.sleep(limits.signIn.evenMs)]);
  return result;
}

/** Whose turn it is where passwords are worked on. */
export function laneOf({ entry, ip }: Browser): Lane {
  return { group: entry.instance.id, member: clientNetwork(ip).near };
}

/** One address in one instance, whether there is such a user or not. */
export function accountKey({ entry }: Browser, email: string): string {
  return `${entry.instance.seq}\0${email}`;
}

interface Attempting {
  /** What is counted and locked for an account: the address, whether anybody has it or not. */
  key: string;
  /** This user was signed in before in this browser. */
  isKnown: boolean;
}

/**
 * A browser in which this user was signed in before counts for itself, so that strangers who try passwords, or ask for
 * mails, do not lock the user out: neither those elsewhere, nor those behind the same address.
 */
export function attemptsBy(
  { store }: Pick<IdentityContext, "store">,
  browser: Browser,
  { email, user }: { email: string; user: User | undefined },
): Attempting {
  const { entry, device } = browser;
  const key = accountKey(browser, email);
  if (user === undefined || device === undefined) return { key, isKnown: false };
  const deviceHash = hexOf(hashOf(device.device));
  const isKnown = store.sessions.isKnown(entry.instance.seq, { user: user.seq, device: deviceHash });
  return { key: isKnown ? `${key}\0${deviceHash}` : key, isKnown };
}
