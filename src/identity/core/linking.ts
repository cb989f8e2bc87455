import type { EffectiveSettings } from "../api/settings.ts";
import { isPlaceholder, isSubaddress } from "./email.ts";
import type { Profile } from "./profile.ts";

/** What is known of the user that already has the address of an account that signs in. */
export interface AddressHolder {
  emailVerifiedAt: number | undefined;
  placeholder: boolean;
  /** The user has another account of the same provider, which a takeover would leave in place. */
  hasAccountThere: boolean;
  /** The browser that signs in is signed in as this user already. */
  isSignedInHere: boolean;
}

export interface ProviderSignIn {
  profile: Profile;
  /** The identity is known: whatever the address says, it is that user. */
  isKnown: boolean;
  /** Who has the profile's address. */
  holder: AddressHolder | undefined;
  settings: Pick<EffectiveSettings, "linking" | "block_subaddresses" | "placeholder_domain">;
}

/**
 * What a sign-in through a provider makes of the accounts:
 * - `known`: the identity's own user signs in
 * - `link`: the account joins the user who has the address
 * - `take_over`: the same, but the address was never proved: whatever was set up on it before goes first
 * - `create`: a new user, with the proven address
 * - `create_placeholder`: a new user with an address of ours
 * - `refuse`: the instance does not want such an address
 */
type AccountStep =
  | { step: "known" }
  | { step: "link" }
  | { step: "take_over" }
  | { step: "create" }
  | { step: "create_placeholder" }
  | { step: "refuse"; why: string };

/**
 * Links on proven addresses only, as docs/contract/identity.md, 1.4 says. If the holder of an address never proved it, a
 * stranger may have set it up and waited for the rightful owner (account pre-hijacking): it is taken over, never shared.
 * A second account of one provider is another person, to whom the address was given later, unless the browser is signed
 * in as the user who has it.
 */
export function decideAccount({ profile, isKnown, holder, settings }: ProviderSignIn): AccountStep {
  if (isKnown) return { step: "known" };
  const { email } = profile;
  if (email === undefined || !profile.emailVerified || isPlaceholder(email, settings.placeholder_domain)) {
    return { step: "create_placeholder" };
  }
  if (settings.block_subaddresses && isSubaddress(email)) {
    return { step: "refuse", why: "the address has a + before the @" };
  }
  if (holder === undefined) return { step: "create" };
  const mayLink = settings.linking === "verified" || profile.authoritative;
  if (!mayLink || holder.placeholder) return { step: "create_placeholder" };
  if (holder.hasAccountThere && !holder.isSignedInHere) return { step: "create_placeholder" };
  return holder.emailVerifiedAt === undefined ? { step: "take_over" } : { step: "link" };
}

/** What a provider said of an address, as it is kept with an account. */
interface SaidAddress {
  email: string | undefined;
  emailVerified: boolean;
}

/** Whether an account proves that its user has this address. */
export function provesAddress(account: SaidAddress, email: string): boolean {
  return account.emailVerified && account.email === email;
}

/**
 * What an account says of its address from now on. What it has proved holds until the provider names another address:
 * one that is left out, or is not called verified this time, proves nothing new and takes nothing back.
 */
export function saidAddress(before: SaidAddress | undefined, { email, emailVerified }: Profile): SaidAddress {
  if (before === undefined || (email !== undefined && email !== before.email)) return { email, emailVerified };
  return { email: before.email, emailVerified: before.emailVerified || (email !== undefined && emailVerified) };
}

export interface AddressNews {
  profile: Profile;
  user: { email: string; placeholder: boolean; hasPassword: boolean };
  /** What this account said until now. */
  before: SaidAddress;
  /** The user's other accounts. */
  others: readonly SaidAddress[];
  /** Somebody else has the address that the provider says now. */
  isTaken: boolean;
  settings: Pick<EffectiveSettings, "block_subaddresses" | "placeholder_domain">;
}

/**
 * What becomes of the address of a user whose provider may say another one than before:
 * - `keep`: nothing
 * - `follow`: the user gets the address that the provider says now
 * - `release`: the user gets a placeholder, because the old address may be somebody else's by now and the new one cannot
 *   be used
 *
 * A user with a password has proved the address without the provider, or an operator vouches for it: it stays.
 */
export function decideAddress({ profile, user, before, others, isTaken, settings }: AddressNews): AddressMove {
  const { email } = profile;
  if (email === undefined || email === user.email) return "keep";
  const isFit = profile.emailVerified && !isPlaceholder(email, settings.placeholder_domain);
  const isWelcome = isFit && !isTaken && !(settings.block_subaddresses && isSubaddress(email));
  if (user.placeholder) return isWelcome ? "follow" : "keep";
  const hasMoved = provesAddress(before, user.email);
  if (!hasMoved || user.hasPassword || others.some((other) => provesAddress(other, user.email))) return "keep";
  return isWelcome ? "follow" : "release";
}

type AddressMove = "keep" | "follow" | "release";

/**
 * Whether two accounts are of one provider. A connection whose issuer was changed is another provider under the same
 * name: its ids begin with the issuer.
 */
export function isSameSource(account: { provider: string; uid: string }, provider: string, profile: Profile): boolean {
  const { uid, handle } = profile;
  return account.provider === provider && account.uid.startsWith(uid.slice(0, uid.length - handle.length));
}
