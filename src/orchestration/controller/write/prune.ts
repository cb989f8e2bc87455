import { formatKey, type ManifestKey, sameKey } from "../../api/manifest.ts";
import type { Transaction } from "../../store/store.ts";
import type { BlockChange } from "./block-change.ts";
import { deleteBlockInside } from "./blocks.ts";
import { deleteInside } from "./delete-inside.ts";

interface Pruning {
  incoming: readonly { key: ManifestKey }[];
  blocks: readonly BlockChange[];
  /** Blocks of a dry run that are in it and were not expanded. */
  standing: readonly ManifestKey[];
  options: { prune: boolean; restoring?: { at: string; deletes: readonly ManifestKey[] } };
  /** `formatKey` of what the apply writes. */
  kept: ReadonlySet<string>;
  actor: string;
  now: number;
}

const why = "apply with prune";

/**
 * Step 8 of an apply: what a restore has no use for, or siblings in the same (scope, kind); unscoped kinds are never pruned. A block is a sibling of
 * blocks and goes with what it was expanded into; the manifests of one that stays are declared by it.
 */
export function prune(tx: Transaction, pruning: Pruning): ManifestKey[] {
  const { incoming, options, kept, actor, now } = pruning;
  if (!options.prune) return options.restoring === undefined ? [] : dropUnwanted(tx, options.restoring, pruning);
  const gone = pruneBlocks(tx, pruning);
  const siblings = groupsOf(incoming.map(({ key }) => key)).flatMap(({ kind, scope }) => {
    return tx.manifests.list({ kind, scope }).filter((sibling) => {
      return !kept.has(formatKey(sibling)) && tx.blocks.ownerOf(sibling) === undefined;
    });
  });
  for (const key of siblings) deleteInside(tx, { key, prune: false, actor, why, now });
  return [...gone, ...siblings];
}

/** What was not wanted at the time that a restore goes back to; a block goes with what it was expanded into. */
function dropUnwanted(
  tx: Transaction,
  { at, deletes }: { at: string; deletes: readonly ManifestKey[] },
  { kept, actor, now }: Pruning,
): ManifestKey[] {
  const done = { prune: false, actor, why: `not wanted at ${at}`, restored: at, now };
  return deletes.flatMap((key) => {
    if (tx.blocks.get(key) !== undefined) {
      return [key, ...deleteBlockInside(tx, { block: key, except: kept, ...done }).map((child) => child.key)];
    }
    if (tx.manifests.get(key) === undefined) return [];
    deleteInside(tx, { key, ...done });
    return [key];
  });
}

function pruneBlocks(tx: Transaction, { blocks, standing, kept, actor, now }: Pruning): ManifestKey[] {
  const wanted = [...blocks.map(({ key }) => key), ...standing];
  const gone = groupsOf(blocks.map(({ key }) => key)).flatMap(({ kind, scope }) => {
    return tx.blocks.list({ kind, scope }).filter((stored) => wanted.every((key) => !sameKey(key, stored)));
  });
  return gone.flatMap(({ kind, scope, name }) => {
    const block = { kind, scope, name };
    const children = deleteBlockInside(tx, { block, prune: false, except: kept, actor, why, now });
    return [block, ...children.map(({ key }) => key)];
  });
}

function groupsOf(keys: readonly ManifestKey[]): ManifestKey[] {
  const groups = new Map(keys.map((key) => [`${key.kind}/${key.scope}`, key]));
  return [...groups.values()].filter(({ scope }) => scope !== "");
}
