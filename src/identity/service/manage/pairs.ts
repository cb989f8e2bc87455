import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { listIdentityPairs } from "../../api/manage/users.ts";
import type { User } from "../../store/records.ts";
import { addressPairs } from "../address-pairs.ts";
import { type ManageContext, requireInstance } from "./context.ts";
import { wireUser } from "./users.ts";

/** Users whose mailbox another user has; of all instances where none is given. Fails `not_found`. */
export function listPairs(context: ManageContext, id: string | undefined): DataOf<typeof listIdentityPairs> {
  const { store, limits } = context;
  const instance = id === undefined ? undefined : requireInstance(context, id).seq;
  const most = limits.addressPairsShown;
  const found = addressPairs(store, { most: most + 1, instance });
  const shown = (user: User | undefined) => {
    const at = user === undefined ? undefined : store.instances.bySeq(user.instance);
    return user === undefined || at === undefined ? [] : [wireUser(store, user, at)];
  };
  const pairs = found.slice(0, most).flatMap(({ email, holder, other }) => {
    const [known] = shown(holder);
    return shown(other).map((user) => ({ email, ...(known === undefined ? {} : { holder: known }), other: user }));
  });
  return { pairs, more: found.length > most };
}
