import { normaliseEmail } from "../core/email.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Instance, User } from "../store/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import { emit } from "./events.ts";
import { resourceOfUser } from "./resources.ts";

/** Users of one instance with one mailbox. */
interface AddressPair {
  /** The address that the service knows the mailbox by. */
  email: string;
  /** The user whom sign-ins with the address lead to; undefined where no user has it. */
  holder: User | undefined;
  /** The address is written in a form of earlier versions: no sign-in by address finds this user. */
  other: User;
}

/** Pairs that earlier versions let be. At most `most`; of all instances where none is given. */
export function addressPairs(
  { users }: Pick<IdentityNouns, "users">,
  { most, instance }: { most: number; instance?: number | undefined },
): AddressPair[] {
  return users.writtenOtherwise(most, instance).map((other) => {
    const email = normaliseEmail(other.email) ?? other.email;
    const holder = users.byEmail(other.instance, email);
    return { email, holder: holder?.seq === other.seq ? undefined : holder, other };
  });
}

/** Who would have the address if its holder were gone; undefined for a mailbox with one user. */
export function pairedUser({ users }: Pick<IdentityNouns, "users">, instance: number, email: string): User | undefined {
  const written = users.writtenOtherwise(Number.MAX_SAFE_INTEGER, instance);
  return written.find((user) => normaliseEmail(user.email) === email);
}

/** Gives an address that has become free to the user who has it in another form. Inside a write. */
export function settlePair(
  nouns: Pick<IdentityNouns, "users" | "audit" | "webhooks" | "webhookDeliveries">,
  { instance, email, now }: { instance: Instance; email: string; now: number },
): void {
  const other = pairedUser(nouns, instance.seq, email);
  if (other === undefined) return;
  const settled = { ...other, email, updatedAt: now };
  nouns.users.update(settled);
  const detail = { before: other.email, why: "the other user with this mailbox is gone" };
  audit(nouns, { instance, actor: "service", action: "user.email", userId: other.id, email, detail, now });
  const data = { ...resourceOfUser(settled, nouns.users.providers(other.seq)) };
  emit(nouns, { instance, type: "user.updated", data, now });
}

/** Says at the start that there are pairs: nothing else does, and one user of each cannot sign in by address. */
export function reportPairs({ store, log, limits }: Pick<IdentityContext, "store" | "log" | "limits">): void {
  const most = limits.addressPairsShown;
  const pairs = addressPairs(store, { most: most + 1 });
  if (pairs.length === 0) return;
  const count = pairs.length > most ? `more than ${most}` : pairs.length;
  log.warn("several users have the same mailbox", { pairs: count, see: "berth identity user pairs" });
}
