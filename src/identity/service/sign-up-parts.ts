import type { IdentityNouns } from "../store/open-store.ts";
import type { OneTime, User } from "../store/records.ts";
import type { IdentityContext } from "./context.ts";
import type { CompleteSignIn } from "./complete-sign-in.ts";
import type { Mailing } from "./mails.ts";
import type { Passwords } from "./passwords.ts";
import { hashOf, hexOf } from "./random.ts";
import type { Browser } from "./browser.ts";

export interface SignUpParts {
  context: IdentityContext;
  passwords: Passwords;
  mailing: Mailing;
  completeSignIn: CompleteSignIn;
}

/** What waits in the row of a link. The password counts only once the person who chose it has proved the address. */
export interface PendingSignUp {
  name: string;
  passwordHash: string;
  redirectUri: string;
  /** The browser that began. */
  device: string | undefined;
  /** The network that began; missing in rows of earlier versions. */
  client?: string;
  /** The user is there only because of this sign-up, and goes with it. */
  isNew: boolean;
}

export interface FoundSignUp {
  row: OneTime;
  data: PendingSignUp;
}

/** What a link of this instance stands for; undefined for one that is unknown, used or too old. */
export function findSignUp(
  nouns: Pick<IdentityNouns, "oneTime">,
  { entry }: Browser,
  { value, now }: { value: string; now: number },
): FoundSignUp | undefined {
  const row = nouns.oneTime.get(hashOf(value), "verify_email");
  if (row === undefined || row.instance !== entry.instance.seq || row.expiresAt <= now) return undefined;
  return { row, data: row.data as unknown as PendingSignUp };
}

/** Somebody has proved the address, or an operator has vouched for a password. */
export function isEstablished(user: User): boolean {
  return user.emailVerifiedAt !== undefined || user.passwordHash !== undefined || user.bannedAt !== undefined;
}

export function deviceOf({ device }: Browser): string | undefined {
  return device === undefined ? undefined : hexOf(hashOf(device.device));
}

export function isSameBrowser(browser: Browser, { device }: PendingSignUp): boolean {
  return device !== undefined && deviceOf(browser) === device;
}
