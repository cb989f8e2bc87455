/** A map that forgets everything when it is full: bounded, and never wrong. */
export interface Cache<V> {
  /** The value under `key`, made and kept when it is not there. Undefined is not kept. */
  get(key: string, make: () => V): V;
  drop(key: string): void;
  clear(): void;
}

export function createCache<V>(entriesMax: number): Cache<V> {
  const entries = new Map<string, V>();
  return {
    get(key, make) {
      const kept = entries.get(key);
      if (kept !== undefined) return kept;
      const made = make();
      if (entries.size >= entriesMax) entries.clear();
      if (made !== undefined) entries.set(key, made);
      return made;
    },
    drop: (key) => entries.delete(key),
    clear: () => entries.clear(),
  };
}
