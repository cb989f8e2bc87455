/** Containers that we are taking down on purpose: not ready any more, and what their probes say meanwhile does not count. */
export interface Leaving {
  add(containerId: string): void;
  /** It stays after all. */
  remove(containerId: string): void;
  has(containerId: string): boolean;
}

/** Ids that `isKnown` has forgotten are forgotten here, too. `onChange` is called when a container leaves, or stays after all. */
export function createLeaving(isKnown: (containerId: string) => boolean, onChange?: () => void): Leaving {
  const ids = new Set<string>();
  return {
    add(containerId) {
      for (const id of ids) if (!isKnown(id)) ids.delete(id);
      ids.add(containerId);
      onChange?.();
    },
    remove(containerId) {
      if (ids.delete(containerId)) onChange?.();
    },
    has: (containerId) => ids.has(containerId),
  };
}
