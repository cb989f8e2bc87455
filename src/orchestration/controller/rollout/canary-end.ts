import type { ManifestKey } from "../../api/manifest.ts";
import type { Transaction } from "../../store/store.ts";

/**
 * Another release begins, or this one has failed: its replicas get no more requests. Old replicas that a good one kept go
 * now. Part of the transaction.
 */
export function endCanary(tx: Transaction, key: ManifestKey, now: number): void {
  const record = tx.canaries.get(key);
  if (record === undefined || record.mode === "withdrawn") return;
  const isGood = tx.releases.get(record.releaseId)?.good === true;
  if (record.mode === "kept" && isGood)
    tx.canaries.put({ ...record, keptUntil: Math.min(record.keptUntil ?? now, now) });
  else if (isGood) tx.canaries.remove(key);
  else tx.canaries.put({ ...record, mode: "withdrawn", keptUntil: undefined });
}
