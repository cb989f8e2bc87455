import { isOwn, makerOf } from "../../core/plugins/maker.ts";
import type { InstallRequest, Plugin } from "../../plugins/plugin.ts";
import type { Context } from "../state/context.ts";
import type { PendingInstall } from "../state/plugin-room.ts";

/** A plugin that an apply has to install or update. */
export interface PluginWish {
  request: InstallRequest;
  /** One of the same source that is installed, and is updated. */
  present: Plugin | undefined;
}

/** Applies at the same time that need the same plugin share one installation. */
export function installOnce({ plugins }: Context, { request, present }: PluginWish): PendingInstall {
  const key = JSON.stringify([request.source, request.version ?? ""]);
  const known = plugins.pendingInstalls.get(key);
  if (known !== undefined) {
    known.applies += 1;
    return known;
  }
  const { source: _, replace: __, ...wish } = request;
  const { installer } = plugins;
  // What is there was granted something, and an apply grants no more.
  const plugin = present === undefined ? installer.install(request) : installer.update(present.yml.name, wish);
  const pending: PendingInstall = { plugin, applies: 1, refused: 0, before: present };
  plugins.pendingInstalls.set(key, pending);
  plugin.catch(() => undefined).finally(() => plugins.pendingInstalls.delete(key));
  return pending;
}

/** An apply was refused. What came in for applies that were all refused goes again. */
export async function giveUp(context: Context, pending: PendingInstall): Promise<void> {
  pending.refused += 1;
  if (pending.refused < pending.applies) return;
  const came = await pending.plugin.catch(() => undefined);
  if (came !== undefined) await takeBack(context, came, pending.before);
}

/** Nothing is taken back where nothing new came, or a block that was stored meanwhile is of the plugin. */
async function takeBack({ plugins, store, clock }: Context, came: Plugin, before: Plugin | undefined) {
  const { yml, lock } = came;
  const { name, version } = yml;
  if (lock !== undefined && lock.installed_at === before?.lock?.installed_at) return;
  if (before === undefined && store.blocks.keys().some((block) => isOwn(block, makerOf(came)))) return;
  if (before === undefined) await plugins.installer.remove(name);
  else await plugins.installer.withdraw(name, lock?.installed_at ?? "");
  await plugins.registry.refresh();
  const detail = { plugin: name, version, why: "the apply that brought it was refused" };
  const event = { actor: "reconciler", action: before === undefined ? "plugin.remove" : "plugin.rollback", detail };
  await store.write((tx) => tx.events.append(event, clock.now()));
}
