import { decideAddress } from "../core/linking.ts";
import { placeholderEmail } from "../core/placeholder.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Identity, User } from "../store/records.ts";
import { pairedUser } from "./address-pairs.ts";
import { audit } from "./audit.ts";
import type { ProviderAccount } from "./code-exchange.ts";
import type { InstanceEntry } from "./directory.ts";
import { isUnannounced } from "./user-events.ts";
import { removeUser } from "./users.ts";

/** An account that has come back from its provider. */
export interface Settle {
  entry: InstanceEntry;
  /** Name of the provider. */
  provider: string;
  account: ProviderAccount;
  /** `seq` of the user whom the browser is signed in as; undefined when it is not signed in. */
  signedInAs: number | undefined;
  ip: string;
  now: number;
}

/**
 * Gives the user of a known account the address that the provider says now, or a placeholder, by `decideAddress` of
 * `core/linking.ts`. Links that were mailed to the old address end: its mailbox may be somebody else's by now.
 */
export function moveAddress(
  nouns: IdentityNouns,
  settle: Settle,
  { user, known }: { user: User; known: Identity },
): User {
  const { entry, provider, account, ip, now } = settle;
  const { instance, settings } = entry;
  const { profile } = account;
  const holder = profile.email === undefined ? undefined : nouns.users.byEmail(instance.seq, profile.email);
  // An unconfirmed sign-up reserves nothing: anyone can start one for any address.
  const isHeld = (one: User) => !isUnannounced(nouns, one) || pairedUser(nouns, instance.seq, one.email) !== undefined;
  const isTaken = holder !== undefined && holder.seq !== user.seq && isHeld(holder);
  const move = decideAddress({
    profile,
    user: { email: user.email, placeholder: user.placeholder, hasPassword: user.passwordHash !== undefined },
    before: known,
    others: nouns.identities.list(user.seq).filter(({ seq }) => seq !== known.seq),
    isTaken,
    settings,
  });
  if (move === "keep" || profile.email === undefined) return user;
  const follows = move === "follow";
  if (follows && holder !== undefined) {
    removeUser(nouns, { instance, user: holder, actor: "service", now, isKnown: false });
  }
  const email = follows ? profile.email : freePlaceholder(nouns, settle);
  const emailVerifiedAt = follows ? now : undefined;
  const moved: User = { ...user, email, emailVerifiedAt, placeholder: !follows, updatedAt: now };
  nouns.oneTime.clear(user.seq, "reset_password");
  nouns.oneTime.clear(user.seq, "verify_email");
  nouns.users.update(moved);
  const detail = { before: user.email, why: follows ? "the provider says another address" : whyReleased };
  audit(nouns, { instance, actor: "user", action: "user.email", userId: user.id, email, provider, ip, detail, now });
  return moved;
}

const whyReleased = "the provider says another address, which cannot be used";
const placeholderAttempts = 20;

/** Somebody may hold the plain one already: an operator can have made that user, or an account was taken off it. */
export function freePlaceholder(nouns: IdentityNouns, { entry, provider, account }: Settle): string {
  const { instance, settings } = entry;
  for (let attempt = 0; attempt < placeholderAttempts; attempt++) {
    const { uid, handle } = account.profile;
    const email = placeholderEmail({ provider, uid, handle, domain: settings.placeholder_domain, attempt });
    if (nouns.users.byEmail(instance.seq, email) === undefined) return email;
  }
  throw new Error("no placeholder address was free");
}
