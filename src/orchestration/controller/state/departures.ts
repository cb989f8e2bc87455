import type { ManifestKey } from "../../api/manifest.ts";

/** Old replicas that are drained and stopped while a rollout goes on. Lost with the server: the next one decides again. */
export interface Departures {
  begin(key: ManifestKey, containerId: string, work: Promise<void>): void;
  has(containerId: string): boolean;
  /** It could not be removed. The next attempt waits for the end, so that the error counts as that of any other step. */
  hasFailed(containerId: string): boolean;
  /** Resolves when none is under way. */
  settled(): Promise<void>;
}

interface DeparturesOptions {
  /** Ids that it has forgotten are forgotten here, too. */
  isKnown: (containerId: string) => boolean;
  /** Called when one is gone, or stays after all. */
  onEnd: (key: ManifestKey) => void;
}

export function createDepartures({ isKnown, onEnd }: DeparturesOptions): Departures {
  const going = new Map<string, Promise<void>>();
  const failed = new Set<string>();
  return {
    begin(key, containerId, work) {
      for (const id of failed) if (!isKnown(id)) failed.delete(id);
      const ended = work
        .catch(() => void failed.add(containerId))
        .finally(() => {
          going.delete(containerId);
          onEnd(key);
        });
      going.set(containerId, ended);
    },
    has: (containerId) => going.has(containerId),
    hasFailed: (containerId) => failed.has(containerId),
    async settled() {
      await Promise.all(going.values());
    },
  };
}
