import type { IdentityNouns } from "../store/open-store.ts";
import type { User } from "../store/records.ts";
import type { InstanceEntry } from "./directory.ts";
import { emit } from "./events.ts";
import { resourceOfUser } from "./resources.ts";
import { isEstablished } from "./sign-up-parts.ts";

interface UserChange {
  entry: InstanceEntry;
  type: "user.created" | "user.updated";
  user: User;
  now: number;
}

/** What is known of users who came with a sign-up. */
type Pending = Pick<IdentityNouns, "users" | "oneTime">;

/**
 * Whether a user is there only because of an unconfirmed sign-up: anyone can write any address into
 * a form, and webhooks hear of the user once somebody has proved it.
 */
export function isUnannounced(nouns: Pending, user: User): boolean {
  if (isEstablished(user) || nouns.users.providers(user.seq).length > 0) return false;
  return nouns.oneTime.waiting(user.seq, "verify_email", 0).some(({ data }) => data.isNew === true);
}

/** What webhooks hear of a user who is being proved; ask before its links go. */
export function provedEvent(nouns: Pending, user: User): UserChange["type"] {
  return isUnannounced(nouns, user) ? "user.created" : "user.updated";
}

/** Tells the webhooks of an instance about a user as the API shows them, inside the write that made or changed it. */
export function emitUser(
  nouns: Pick<IdentityNouns, "webhooks" | "webhookDeliveries" | "users">,
  { entry, type, user, now }: UserChange,
): void {
  const data = { ...resourceOfUser(user, nouns.users.providers(user.seq)) };
  emit(nouns, { instance: entry.instance, type, data, now });
}
