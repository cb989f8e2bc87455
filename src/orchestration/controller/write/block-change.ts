import type { Principal } from "../../../access/principal.ts";
import { type Failure, type Place, problemFailure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, sameKey, type Spec } from "../../api/manifest.ts";
import { changedPaths } from "../../core/diff.ts";
import { isOwn, type Maker, makerText } from "../../core/plugins/maker.ts";
import type { BlockRecord } from "../../store/plugin-records.ts";
import type { Transaction } from "../../store/store.ts";
import { hasLesserRights, isGuarded } from "../state/authority.ts";
import { deleteInside } from "./delete-inside.ts";

/** A block that an apply stores, and what it became. */
export interface BlockChange {
  key: ManifestKey;
  maker: Maker;
  version: string;
  spec: Spec;
  warnings: string[];
  children: ManifestKey[];
  ifRevision: number | undefined;
  place: Place;
}

export interface BlockPut {
  block: BlockRecord;
  previous: BlockRecord | undefined;
}

interface WriteStamp {
  actor: string;
  now: number;
}

/** The revision that the caller expects a block to have. Fails `conflict`. */
export function requireRevisions(tx: Transaction, blocks: readonly BlockChange[]): void {
  for (const { key, ifRevision, place } of blocks) {
    const revision = tx.blocks.get(key)?.revision ?? 0;
    if (ifRevision === undefined || ifRevision === revision) continue;
    const now = revision === 0 ? "it is not stored" : `it is at revision ${revision}`;
    const message = `expected revision ${ifRevision}, but ${now}; look again and re-apply`;
    throw revisionConflict(key, { place, message, revision });
  }
}

/** Somebody else changed a manifest since the caller looked at it. `revision` is the stored one; 0 where none is. */
export function revisionConflict(
  key: ManifestKey,
  { place, message, revision }: { place: Place; message: string; revision: number },
): Failure {
  const problem = { path: "metadata.if_revision", message, place };
  return problemFailure("conflict", problem, {
    reason: "RevisionConflict",
    fields: { resource: formatKey(key), revision },
  });
}

/** Deletes what the blocks were expanded into before and are not any more. `kept`: `formatKey` of what this apply writes. */
export function dropLeftovers(
  tx: Transaction,
  { blocks, kept, actor, now }: WriteStamp & { blocks: readonly BlockChange[]; kept: ReadonlySet<string> },
): ManifestKey[] {
  const leftovers = blocks.flatMap(({ key }) => tx.blocks.expanded(key)).filter((child) => !kept.has(formatKey(child)));
  for (const child of leftovers) {
    deleteInside(tx, { key: child, prune: false, actor, why: "its block is not expanded into it any more", now });
  }
  return leftovers;
}

/**
 * A manifest of another block that stays is that one's; one that was applied by itself would change at once, and go with
 * the block later on, so that has to be wanted. Fails `conflict`.
 */
export function requireOwners(
  tx: Transaction,
  blocks: readonly BlockChange[],
  { takeOver = false }: { takeOver?: boolean },
): void {
  for (const { key, children, place } of blocks) {
    for (const child of children) {
      const owner = tx.blocks.ownerOf(child);
      if (owner === undefined) {
        if (takeOver || tx.manifests.get(child) === undefined) continue;
        const ways = "choose another name, or let the block have it with take_over (apply --take-over)";
        throw problemFailure("conflict", {
          path: "",
          message: `${formatKey(child)} was applied by itself; ${ways}`,
          place,
        });
      }
      if (sameKey(owner, key) || blocks.some((other) => sameKey(other.key, owner))) continue;
      const message = `${formatKey(child)} belongs to the block ${formatKey(owner)}`;
      throw problemFailure("conflict", { path: "", message, place });
    }
  }
}

/** Another apply may have given a block to another plugin while this one expanded it. Fails `conflict`. */
export function requireMakers(
  tx: Transaction,
  blocks: readonly BlockChange[],
  { replacePlugin = false }: { replacePlugin?: boolean },
): void {
  if (replacePlugin) return;
  for (const { key, maker, place } of blocks) {
    const stands = tx.blocks.get(key);
    if (stands === undefined || isOwn(stands, maker)) continue;
    const message = `was given to ${makerText(stands)} meanwhile; look again and re-apply`;
    throw problemFailure("conflict", { path: "", message, place });
  }
}

/** Stores the blocks and whose children the manifests are now. */
export function putBlocks(
  tx: Transaction,
  { blocks, actor, by, now }: WriteStamp & { blocks: readonly BlockChange[]; by: Principal | undefined },
): BlockPut[] {
  return blocks.map(({ key, maker, version, spec, warnings, children }) => {
    const result = tx.blocks.put({ ...key, ...maker, version, spec, warnings, lesser: hasLesserRights(by) }, now);
    const isSameFamily = Bun.deepEquals(tx.blocks.expanded(key).map(formatKey).sort(), children.map(formatKey).sort());
    tx.blocks.setChildren(key, children);
    const { block, previous } = result;
    const isHandedOver = previous !== undefined && !isOwn(previous, maker);
    if (previous?.revision !== block.revision || previous.version !== version || isHandedOver || !isSameFamily) {
      const changed = changedPaths(previous?.spec ?? {}, spec).slice(0, 50);
      const from = isHandedOver ? { from: makerText(previous), to: makerText(maker) } : {};
      const detail = { plugin: maker.plugin, version, ...from, changed };
      tx.events.append({ actor, action: "block.apply", ...key, revision: block.revision, detail }, now);
    }
    return result;
  });
}

/** Who applies core manifests, beside the blocks of the same apply. */
interface Applying {
  blocks: readonly BlockChange[];
  options: { by?: Principal | undefined; byAction?: boolean };
}

/**
 * Core manifests of this apply that belong to a block. What a block was expanded into is written again at its next apply.
 * What an action applied for it belongs to the caller who applies it by itself afterwards, and stays when the block goes; the
 * plugin's own calls do not count as that, nor does a caller without the right to what is lent to the block.
 */
export function borrowed(tx: Transaction, keys: readonly ManifestKey[], { blocks, options }: Applying): string[] {
  const own = new Set(blocks.flatMap(({ children }) => children.map(formatKey)));
  const { by, byAction = false } = options;
  const isPlugin = byAction || by?.type === "plugin" || by?.type === "pod";
  return keys.flatMap((key) => {
    const owner = own.has(formatKey(key)) ? undefined : tx.blocks.ownerOf(key);
    if (owner === undefined) return [];
    const [ref, block] = [formatKey(key), formatKey(owner)];
    if (tx.blocks.expanded(owner).some((child) => sameKey(child, key))) {
      return [`${ref}: the block ${block} writes it again at its next apply`];
    }
    if (isPlugin || (hasLesserRights(by) && isGuarded(tx, key))) return [];
    tx.blocks.release(key);
    return [`${ref}: no longer belongs to the block ${block}, and stays when that is deleted`];
  });
}
