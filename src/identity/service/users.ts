import { Failure } from "../../base/wire/failure.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Instance, User } from "../store/records.ts";
import { settlePair } from "./address-pairs.ts";
import { audit } from "./audit.ts";
import type { Caller } from "./auth.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { emit } from "./events.ts";
import { fillList, type Listing } from "./listing.ts";
import { type Resource, resourceOfUser } from "./resources.ts";
import { isUnannounced } from "./user-events.ts";
import { endSessions, type Page, type SessionNouns } from "./sessions.ts";

/** Users of an instance over the API. */
export interface Users {
  /** Fails `not_found`, also for one of another instance. */
  get(entry: InstanceEntry, id: string): Resource;
  /** Newest first. Fails `invalid` for a bad cursor. */
  list(entry: InstanceEntry, page: Page): Listing;
  /** With identities, sessions and tokens, for ever. Fails `not_found`. */
  remove(caller: Caller, id: string): Promise<{ deleted: true; id: string }>;
}

interface RemoveUser {
  instance: Instance;
  user: User;
  actor: string;
  now: number;
  /** Webhooks have heard of the user; left out, it is looked up. */
  isKnown?: boolean;
}

/** Ends the sessions first, so that their followers hear of it. */
export function removeUser(nouns: SessionNouns & Pick<IdentityNouns, "oneTime">, removal: RemoveUser): void {
  const { instance, user, actor, now, isKnown = !isUnannounced(nouns, user) } = removal;
  endSessions(nouns, { instance, user, actor, reason: "user_deleted", now });
  const { id: userId, email } = user;
  audit(nouns, { instance, actor, action: "user.delete", userId, email, now });
  if (isKnown) emit(nouns, { instance, type: "user.deleted", data: { id: userId, email }, now });
  nouns.users.remove(user.seq);
  settlePair(nouns, { instance, email, now });
}

export function createUsers({ store, cursors, clock, limits }: IdentityContext): Users {
  const find = (nouns: Pick<IdentityNouns, "users">, { instance }: InstanceEntry, id: string): User => {
    const user = nouns.users.get(instance.seq, id);
    if (user === undefined) throw new Failure("not_found", "User not found");
    return user;
  };
  const resourceOf = (user: User) => resourceOfUser(user, store.users.providers(user.seq));
  return {
    get: (entry, id) => resourceOf(find(store, entry, id)),
    list({ instance }, { limit, cursor }) {
      const place = { instance: instance.seq, list: "users" } as const;
      const [start] = cursors.read(place, cursor, 1) ?? [];
      return fillList<User>({
        limits,
        limit,
        read(after, count) {
          const before = after?.seq ?? start;
          return store.users.list(instance.seq, { limit: count, ...(before === undefined ? {} : { before }) });
        },
        render: resourceOf,
        cursorOf: ({ seq }) => cursors.write(place, [seq]),
      });
    },
    remove: ({ entry, actor }, id) =>
      store.write((nouns) => {
        const user = find(nouns, entry, id);
        removeUser(nouns, { instance: entry.instance, user, actor, now: clock.now() });
        return { deleted: true as const, id: user.id };
      }),
  };
}
