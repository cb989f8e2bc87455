import { type Place, placeWithin, type Problem, problemsAt } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { PluginBlock } from "../../core/draft.ts";
import { restoreBlock } from "../../core/plugins/block-mask.ts";
import { mayTouch } from "../../core/plugins/permissions.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { Context } from "../state/context.ts";
import { blockKey } from "../write/blocks.ts";
import { withWayToOther } from "../state/makers.ts";

export interface CheckedBlock {
  /** Its spec without `plugin`. */
  block: PluginBlock;
  plugin: Plugin;
  key: ManifestKey;
  place: Place;
}

/** A block that its plugin may be asked about, with the secrets of what is stored; or what is wrong with it. */
export async function checkedBlock(
  context: Context,
  { block, place: at }: { block: PluginBlock; place: Place },
): Promise<CheckedBlock | { problems: Problem[] }> {
  const plugin = context.plugins.registry.ofKind(block.kind);
  const place = placeWithin(at, formatKey(block));
  const refused = (message: string) => ({ problems: problemsAt(place, [{ path: "", message }]) });
  if (plugin === undefined) return refused(`no plugin expands "${block.kind}"`);
  if (!mayTouch(plugin.permissions, block.scope)) {
    return refused(`the plugin "${plugin.yml.name}" was not granted the scope "${block.scope}"`);
  }
  const { key, spec, problems } = await blockFaults(context, block, plugin);
  return problems.length > 0
    ? { problems: problemsAt(at, problems) }
    : { block: { ...block, spec }, plugin, key, place };
}

/** The spec of a block, and what its plugin's schema says against it; without `plugin`. */
export async function blockFaults(context: Context, block: PluginBlock, plugin: Plugin) {
  const key = blockKey(context, block);
  const { spec, problems } = restoreBlock(block.spec, context.store.blocks.get(key)?.spec);
  if (problems.length > 0) return { key, spec, problems };
  const published = await context.plugins.schemas.of(plugin, block.kind);
  const found = published?.check(spec, context.limits.problemsShownMax) ?? [];
  return { key, spec, problems: plugin.origin === "bundled" ? withWayToOther(found, plugin, published?.json) : found };
}
