import type { ManifestKey } from "../api/manifest.ts";
import type { Plugin } from "../plugin/plugin.ts";
import type { Context } from "./context.ts";
import type { PluginHold } from "./plugin-room.ts";
import type { Pod } from "./pod.ts";

/**
 * Until the returned function is called, what such a run stopped of its plugin's blocks stays stopped: a plugin that
 * stops a database to put other files under it must not find it running again. Without the engine a plugin cannot do
 * that, and `expand` changes nothing: then nothing is held. A server that dies takes the run along, and with it the hold.
 */
export function holdStopped(context: Context, plugin: Plugin, command: string): () => void {
  if (command === "expand" || !plugin.permissions.docker) return () => undefined;
  const hold: PluginHold = { plugin: plugin.yml.name, since: context.clock.now() };
  context.plugins.holds.add(hold);
  return () => {
    if (!context.plugins.holds.delete(hold)) return;
    for (const block of context.store.blocks.list()) {
      if (block.plugin === hold.plugin)
        for (const child of context.store.blocks.children(block)) context.enqueue(child);
    }
  };
}

/**
 * Replica ids of a resource that a run under way stopped. The engine starts again what ends by itself: what it reports
 * as exited was stopped by somebody, and since the run began that is the run.
 */
export function stoppedByRuns({ plugins, store, pods }: Context, key: ManifestKey): string[] {
  if (plugins.holds.size === 0) return [];
  const owner = store.blocks.ownerOf(key);
  const plugin = owner && store.blocks.get(owner)?.plugin;
  const since = [...plugins.holds].filter((hold) => hold.plugin === plugin).map((hold) => hold.since);
  if (since.length === 0) return [];
  const first = Math.min(...since);
  const isStopped = (pod: Pod) => pod.role === undefined && pod.state === "exited" && endOf(pod) >= first;
  return pods
    .of(key)
    .filter(isStopped)
    .map(({ replicaId }) => replicaId);
}

function endOf({ stale, finishedAt, changedAt }: Pod): number {
  return stale ? changedAt : (finishedAt ?? changedAt);
}
