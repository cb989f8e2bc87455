import type { ManifestKey } from "../../api/manifest.ts";
import type { Transaction } from "../../store/store.ts";
import { tellReaders } from "../desired/references.ts";
import { isContainerKind } from "../state/target.ts";

interface Deleting {
  key: ManifestKey;
  prune: boolean;
  actor: string;
  why: string;
  /** The time that a restore goes back to, ISO 8601. */
  restored?: string;
  now: number;
}

/**
 * Removes a manifest inside a transaction and leaves a delete mark where containers have to go: the reconciler
 * finishes from the mark, also after a crash. Returns whether a config bucket was wiped.
 */
export function deleteInside(
  tx: Transaction,
  { key, prune, actor, why, restored, now }: Deleting,
): { configWiped: boolean } {
  const wasStored = tx.manifests.delete(key);
  tellReaders(tx, key);
  if (isContainerKind(key.kind)) {
    // A prune that is not worked off yet stays owed.
    const owed = tx.deletions.get(key)?.prune === true;
    tx.deletions.put({ kind: key.kind, scope: key.scope, name: key.name, at: now, prune: prune || owed });
  }
  // What was left of one that is gone already may be the config of a namesake.
  const configWiped = prune && (wasStored || !hasNamesake(tx, key)) && tx.config.wipe(key.scope, key.name);
  tx.events.append(
    {
      actor,
      action: "manifest.delete",
      kind: key.kind,
      scope: key.scope,
      name: key.name,
      detail: { why, prune, restored },
    },
    now,
  );
  return { configWiped };
}

function hasNamesake(tx: Transaction, { scope, name }: ManifestKey): boolean {
  return tx.manifests.list({ scope, name }).length + tx.blocks.list({ scope, name }).length > 0;
}
