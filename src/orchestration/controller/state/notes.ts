import { Failure } from "../../../base/wire/failure.ts";
import { isDiskRefusal } from "../../../base/wire/disk-failure.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Log } from "../../../base/words/log.ts";
import type { EarlierRestarts, Look, PodReadiness } from "../../store/look-records.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";

/**
 * What the reconciler writes about its work: events, deaths, statuses. A disk that is full or read-only must not keep
 * containers from being healed, so these go missing instead; statuses are kept in memory until they can be stored.
 */
export interface Notes {
  /** False when the disk refused it and nothing was stored, which the log says once. Other failures are passed on. */
  write(change: (tx: Transaction) => void, options?: Parameters<Store["write"]>[1]): Promise<boolean>;
  /** The last status of a resource, stored or not: to be shown, never to decide by. */
  status(key: ManifestKey): Record<string, unknown> | undefined;
  /** What the last look at a resource of containers came to, stored or not. */
  look(key: ManifestKey): Look | undefined;
  /** True when it waits for the disk. */
  isUnsaved(key: ManifestKey): boolean;
  saveStatus(key: ManifestKey, status: Record<string, unknown>, found?: Found): Promise<void>;
  forget(key: ManifestKey): void;
}

/** What a look at a resource of containers leaves for later ones, beside the status that shows it. */
export interface Found {
  look: Look;
  readiness: PodReadiness[];
  restarts: EarlierRestarts[];
}

export function createNotes({ store, log }: { store: Store; log: Log }): Notes {
  const unsaved = new Map<KeyText, { status: Record<string, unknown>; look: Look | undefined }>();
  let refused = false;

  async function write(change: (tx: Transaction) => void, options?: Parameters<Store["write"]>[1]): Promise<boolean> {
    try {
      await store.write(change, options);
    } catch (error) {
      if (!isDiskRefusal(error)) throw error;
      const isFull = error instanceof Failure && error.code === "storage_full";
      const what = isFull ? "disk is full" : "disk cannot be written";
      if (!refused) log.error(`${what}: healing goes on, events and statuses are not stored`, { error });
      refused = true;
      return false;
    }
    if (refused) log.info("disk can be written again: events and statuses are stored");
    refused = false;
    return true;
  }

  return {
    write,
    status: (key) => unsaved.get(keyText(key))?.status ?? store.status.get(key),
    look: (key) => unsaved.get(keyText(key))?.look ?? store.looks.get(key),
    isUnsaved: (key) => unsaved.has(keyText(key)),
    async saveStatus(key, status, found) {
      const put = (tx: Transaction) => {
        // Deleted meanwhile: a status without a manifest would greet the next one of that name.
        if (tx.manifests.get(key) === undefined) return;
        tx.status.put(key, status);
        if (found === undefined) return;
        tx.looks.put(key, found.look);
        tx.probeReadiness.put(key, found.readiness);
        tx.earlierRestarts.put(key, found.restarts);
      };
      const halts = found?.look.memory.halted !== undefined && store.looks.get(key)?.memory.halted === undefined;
      const isStored = await write(put, { durable: halts });
      if (isStored || store.manifests.get(key) === undefined) unsaved.delete(keyText(key));
      else unsaved.set(keyText(key), { status, look: found?.look });
    },
    forget: (key) => void unsaved.delete(keyText(key)),
  };
}
