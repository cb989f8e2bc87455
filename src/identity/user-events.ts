import type { IdentityNouns } from "../store/identity/open-store.ts";
import type { User } from "../store/identity/records.ts";
import type { InstanceEntry } from "./directory.ts";
import { emit } from "./events.ts";
import { resourceOfUser } from "./resources.ts";

export interface UserChange {
  entry: InstanceEntry;
  type: "user.created" | "user.updated";
  user: User;
  now: number;
}

/** Tells the webhooks of an instance about a user as the API shows them, inside the write that made or changed it. */
export function emitUser(
  nouns: Pick<IdentityNouns, "hooks" | "hookDeliveries" | "users">,
  { entry, type, user, now }: UserChange,
): void {
  const data = { ...resourceOfUser(user, nouns.users.providers(user.seq)) };
  emit(nouns, { instance: entry.instance, type, data, now });
}
