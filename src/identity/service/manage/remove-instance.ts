import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { deleteIdentityInstance } from "../../api/manage/instances.ts";
import { audit } from "../audit.ts";
import { allInstances, type By, type ManageContext, requireInstance } from "./context.ts";

/** Users per transaction: each holds up every other write for as long as it takes. */
const usersAtOnce = 500;

/**
 * Ends the keys first, so that no one signs in while the users are removed. A stop in between leaves an instance without keys,
 * and asking again goes on.
 */
export async function removeInstance(
  context: ManageContext,
  id: string,
  { actor }: By,
): Promise<DataOf<typeof deleteIdentityInstance>> {
  const { store, clock } = context;
  const instance = requireInstance(context, id);
  await store.write((nouns) => {
    for (const key of nouns.keys.list(instance.seq)) nouns.keys.remove(key.id);
    nouns.providers.clear(instance.seq);
    nouns.instances.update({ ...instance, host: undefined, settings: {}, updatedAt: clock.now() });
  });
  let users = 0;
  for (;;) {
    const removed = await store.write(({ users: noun }) => {
      const some = noun.list(instance.seq, { limit: usersAtOnce });
      for (const { seq } of some) noun.remove(seq);
      return some.length;
    });
    users += removed;
    if (removed < usersAtOnce) break;
  }
  await dropAudit(store, instance.seq);
  await store.write((nouns) => {
    nouns.instances.remove(instance.seq);
    const detail = { instance: id, name: instance.name, users };
    audit(nouns, { instance: allInstances, actor, action: "instance.delete", detail, now: clock.now() });
  });
  return { id, deleted: true, users };
}

/** Its address book must not outlive it; that it was deleted, and by whom, is on record for all instances. */
async function dropAudit(store: ManageContext["store"], instance: number): Promise<void> {
  while ((await store.write(({ audit: noun }) => noun.trim(instance, 0, usersAtOnce))) >= usersAtOnce);
}
