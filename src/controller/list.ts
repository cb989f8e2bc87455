import type { Manifest } from "../api/manifest.ts";
import { requireKind, storedBlockKind, wireBlock } from "./blocks.ts";
import type { Context } from "./context.ts";
import type { Target } from "./controller.ts";
import { targetKind } from "./target.ts";
import { wireManifest } from "./wire.ts";

/** GET /apply. Blocks are listed where their kind is asked for: without one the list is what can be applied again. */
export function listManifests(context: Context, filter: Target): Manifest[] {
  const scope = filter.scope ? { scope: filter.scope } : {};
  const name = filter.name ? { name: filter.name } : {};
  requireKind(context, filter.kind);
  const blockKind = storedBlockKind(context, filter.kind);
  if (blockKind !== undefined) {
    return context.store.blocks.list({ kind: blockKind, ...scope, ...name }).map(wireBlock);
  }
  const kind = filter.kind ? { kind: targetKind(filter.kind) } : {};
  return context.store.manifests.list({ ...kind, ...scope, ...name }).map(wireManifest);
}
