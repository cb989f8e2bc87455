/** Containers that we are taking down on purpose: not ready any more, and what their probes say meanwhile is no news. */
export interface Leaving {
  add(containerId: string): void;
  /** It stays after all. */
  remove(containerId: string): void;
  has(containerId: string): boolean;
}

/** Ids that `isKnown` has forgotten are forgotten here, too. */
export function createLeaving(isKnown: (containerId: string) => boolean): Leaving {
  const ids = new Set<string>();
  return {
    add(containerId) {
      for (const id of ids) if (!isKnown(id)) ids.delete(id);
      ids.add(containerId);
    },
    remove: (containerId) => void ids.delete(containerId),
    has: (containerId) => ids.has(containerId),
  };
}
