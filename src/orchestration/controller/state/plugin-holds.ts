import type { ManifestKey } from "../../api/manifest.ts";
import { isOwn, makerOf } from "../../core/plugins/maker.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { BlockRecord } from "../../store/plugin-records.ts";
import type { Context } from "./context.ts";
import { keyText } from "../../api/manifest-key.ts";
import type { PluginHold } from "./plugin-room.ts";
import type { Pod } from "./pod.ts";

/**
 * Until the returned function is called, what such a run stopped of its plugin's blocks stays stopped: a plugin that
 * stops a database to put other files under it must not find it running again. Without the engine a plugin cannot do
 * that, and `expand` changes nothing: then nothing is held. A server that dies takes the run along, and with it the hold.
 */
export function holdStopped(context: Context, plugin: Plugin, command: string): () => void {
  if (command === "expand" || !plugin.permissions.docker) return () => undefined;
  const hold: PluginHold = { ...makerOf(plugin), since: context.clock.now(), letGoAt: new Map() };
  context.plugins.holds.add(hold);
  return () => {
    if (!context.plugins.holds.delete(hold)) return;
    for (const block of context.store.blocks.list()) {
      if (isOwn(block, hold)) for (const child of context.store.blocks.children(block)) context.enqueue(child);
    }
  };
}

/** A run that asks for a restart of what it stopped wants it up, and may wait for that. */
export function letGo({ plugins, clock }: Context, key: ManifestKey, actor: string): void {
  for (const hold of plugins.holds) {
    if (actor === `plugin ${hold.plugin}`) hold.letGoAt.set(keyText(key), clock.now());
  }
}

/**
 * Replica ids of a resource that a run under way stopped, and why they are left alone. The engine starts again what ends by itself: what it reports
 * as exited was stopped by somebody, and since the run began that is the run.
 */
export function heldByRuns(context: Context, key: ManifestKey): [string, string][] {
  const pods = heldPods(context, key);
  if (pods.length === 0) return [];
  const why = `stopped by a run of the plugin "${blockOf(context, key)?.plugin}", and starts again when that ends`;
  return pods.map(({ replicaId }) => [replicaId, why]);
}

function heldPods(context: Context, key: ManifestKey): Pod[] {
  const { plugins, pods } = context;
  if (plugins.holds.size === 0) return [];
  const block = blockOf(context, key);
  const holds = [...plugins.holds].filter((hold) => block !== undefined && isOwn(block, hold));
  const isHeld = (pod: Pod) =>
    holds.some(({ since, letGoAt }) => endOf(pod) >= since && endOf(pod) >= (letGoAt.get(keyText(key)) ?? 0));
  return pods.of(key).filter((pod) => pod.role === undefined && pod.state === "exited" && isHeld(pod));
}

function blockOf({ store }: Context, key: ManifestKey): BlockRecord | undefined {
  const owner = store.blocks.ownerOf(key);
  return owner && store.blocks.get(owner);
}

function endOf({ stale, finishedAt, changedAt }: Pod): number {
  return stale ? changedAt : (finishedAt ?? changedAt);
}
