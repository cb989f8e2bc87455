import type { EffectiveSettings } from "../api/settings.ts";
import { isPlaceholder, isSubaddress } from "./email.ts";
import type { Profile } from "./profile.ts";

/** What is known of the user that already has the address of an account that signs in. */
export interface AddressHolder {
  emailVerifiedAt: number | undefined;
  placeholder: boolean;
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
 * - `take_over`: the same, but nobody had proved that address: whatever was set up on it before goes first
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
 * Linking on proven addresses only (section 1 of the contract). An address that its holder never proved may have been
 * put there by somebody who waits for the rightful owner (account pre-hijacking): it is taken over, never shared.
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
  return holder.emailVerifiedAt === undefined ? { step: "take_over" } : { step: "link" };
}
