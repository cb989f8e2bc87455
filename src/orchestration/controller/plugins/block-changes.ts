import { canonicalJson } from "../../../base/pure/digest.ts";
import { placeWithin, problemFailure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { CoreDraft } from "../../core/draft.ts";
import { volumeUses } from "../../core/named-volumes.ts";
import { isEngineVolumeName } from "../../core/naming.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import type { Context } from "../state/context.ts";
import type { BlockChange } from "../write/block-change.ts";
import type { ExpandedBlock, Expansions } from "./expansion.ts";

/** What the transaction of an apply has to know about its blocks: those to store, and those of a dry run that only stand. */
export function blockChanges({ blocks, unknown }: Expansions): { blocks: BlockChange[]; standing: ManifestKey[] } {
  return { blocks: blocks.map(blockChange), standing: unknown.map(({ key }) => key) };
}

function blockChange({ key, plugin, manifests, ...rest }: ExpandedBlock): BlockChange {
  const { spec, warnings, ifRevision, place } = rest;
  const children = manifests.map(keyOf);
  return { key, maker: makerOf(plugin), version: plugin.yml.version, spec, warnings, children, ifRevision, place };
}

/**
 * Fails `conflict` where a new block would get a volume with the data of another one. A plugin names volumes such as those of
 * backups after scope and name, and no delete removes them: `berth-a-b-c-backups` may be what `a/b-c` or `a-b/c` has left, or a
 * block of another kind. What the block itself writes may be of anybody.
 */
export async function refuseLeftVolumes(context: Context, blocks: readonly ExpandedBlock[]): Promise<void> {
  for (const { key, spec, place, manifests } of blocks) {
    const written = canonicalJson(spec);
    for (const manifest of manifests) {
      for (const { name: volume, external, path } of volumeUses(manifest)) {
        if (external || !isEngineVolumeName(context.names, volume)) continue;
        if ([`"${volume}"`, `"${volume}:`].some((mount) => written.includes(mount))) continue;
        const owner = await otherOwner(context, { block: formatKey(key), manifest, volume });
        if (owner === undefined) continue;
        const message =
          `${path}: the volume "${volume}" holds what ${owner} has left; use another scope or name, or remove the volume ` +
          `when its data is not needed any more: docker volume rm ${volume}`;
        throw problemFailure("conflict", { path: "", message, place: placeWithin(place, formatKey(manifest)) });
      }
    }
  }
}

/** Whose the volume is, where that is not the block. Older versions left less: only the scope, or only who named it. */
async function otherOwner(
  { engine, store, names }: Context,
  { block, manifest, volume }: { block: string; manifest: CoreDraft; volume: string },
): Promise<string | undefined> {
  const stored = store.manifests.get(manifest);
  if (stored !== undefined && volumeUses(stored).some(({ name }) => name === volume)) return undefined;
  const found = await engine.inspectVolume(volume);
  if (found === undefined) return undefined;
  const { [names.label.block]: maker, [names.label.scope]: scope } = found.labels;
  if (maker !== undefined) return maker === block ? undefined : maker;
  if (scope !== undefined) return scope === manifest.scope ? undefined : `scope ${scope}`;
  const users = store.namedVolumes.plainUsers(volume);
  const [user] = users.some((row) => row.scope === manifest.scope) ? [] : users;
  return user && formatKey(user);
}
