import { keyOf } from "../../api/manifest-key.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { makerOf } from "../../core/plugins/maker.ts";
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
