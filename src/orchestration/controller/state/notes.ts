import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Log } from "../../../base/words/log.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { type KeyText, keyText } from "./key-text.ts";

/**
 * What the reconciler writes about its work: events, deaths, statuses. A full disk must not keep containers from being
 * healed, so these go missing instead; statuses are kept in memory until there is room.
 */
export interface Notes {
  /** False when the disk is full and nothing was stored, which the log says once. Other failures are passed on. */
  write(change: (tx: Transaction) => void, options?: Parameters<Store["write"]>[1]): Promise<boolean>;
  /** The last status blob of a resource, stored or not. */
  status(key: ManifestKey): Record<string, unknown> | undefined;
  /** True when it waits for room on the disk. */
  isUnsaved(key: ManifestKey): boolean;
  saveStatus(key: ManifestKey, status: Record<string, unknown>): Promise<void>;
  forget(key: ManifestKey): void;
}

export function createNotes({ store, log }: { store: Store; log: Log }): Notes {
  const unsaved = new Map<KeyText, Record<string, unknown>>();
  let full = false;

  async function write(change: (tx: Transaction) => void, options?: Parameters<Store["write"]>[1]): Promise<boolean> {
    try {
      await store.write(change, options);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "storage_full") throw error;
      if (!full) log.error("disk is full: healing goes on, events and statuses are not stored", { error });
      full = true;
      return false;
    }
    if (full) log.info("disk has room again: events and statuses are stored");
    full = false;
    return true;
  }

  return {
    write,
    status: (key) => unsaved.get(keyText(key)) ?? store.status.get(key),
    isUnsaved: (key) => unsaved.has(keyText(key)),
    async saveStatus(key, status) {
      const put = (tx: Transaction) => {
        // Deleted meanwhile: a status without a manifest would greet the next one of that name.
        if (tx.manifests.get(key) !== undefined) tx.status.put(key, status);
      };
      const isStored = await write(put, { durable: false });
      if (isStored || store.manifests.get(key) === undefined) unsaved.delete(keyText(key));
      else unsaved.set(keyText(key), status);
    },
    forget: (key) => void unsaved.delete(keyText(key)),
  };
}
