import type { ListedManifest } from "../../api/apply.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { requireKind, storedBlockKind, wireBlock } from "../write/blocks.ts";
import type { Context } from "../state/context.ts";
import type { ListOptions, Target } from "../requests.ts";
import { canaryView } from "../rollout/canary-view.ts";
import { blockStatus, statusNow } from "./describe.ts";
import { isPodKind, targetKind } from "../state/target.ts";
import { shownManifest } from "../state/shown-manifest.ts";

/** GET /apply. Blocks are listed where their kind, or all of them, are asked for. */
export function listManifests(
  context: Context,
  filter: Target,
  { blocks, status }: ListOptions = { blocks: false, status: false },
): ListedManifest[] {
  const { store } = context;
  const scope = filter.scope ? { scope: filter.scope } : {};
  const name = filter.name ? { name: filter.name } : {};
  requireKind(context, filter.kind);
  const blockKind = storedBlockKind(context, filter.kind);
  const ofBlocks = (kind: { kind?: string }) =>
    store.blocks.list({ ...kind, ...scope, ...name }).map((block) => {
      return { ...wireBlock(block), ...(status ? { status: blockStatus(context, block) } : {}) };
    });
  if (blockKind !== undefined) return ofBlocks({ kind: blockKind });
  const kind = filter.kind ? { kind: targetKind(filter.kind) } : {};
  const manifests = store.manifests.list({ ...kind, ...scope, ...name }).map((manifest): ListedManifest => {
    const known = status ? withCanary(context, manifest, statusNow(context, manifest)) : null;
    return { ...shownManifest(manifest), ...(known === null ? {} : { status: known }) };
  });
  return blocks && !filter.kind ? [...ofBlocks({}), ...manifests] : manifests;
}

function withCanary(context: Context, key: ManifestKey, status: Record<string, unknown> | null) {
  const canary = status !== null && isPodKind(key.kind) ? canaryView(context, key) : undefined;
  return canary === undefined ? status : { ...status, canary };
}
