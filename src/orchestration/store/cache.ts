/** A map that forgets everything when it is full: bounded, and never wrong. */
export interface Cache<V> {
  /** The value under `key`, made and kept when it is not there. Undefined is not kept. */
  get(key: string, make: () => V): V;
  /** The value under `key`, when it is there. */
  peek(key: string): V | undefined;
  set(key: string, value: V): void;
  drop(key: string): void;
  clear(): void;
}

export function createCache<V>(entriesMax: number): Cache<V> {
  const entries = new Map<string, V>();
  const set = (key: string, value: V) => {
    if (entries.size >= entriesMax && !entries.has(key)) entries.clear();
    entries.set(key, value);
  };
  return {
    get(key, make) {
      const kept = entries.get(key);
      if (kept !== undefined) return kept;
      const made = make();
      if (made !== undefined) set(key, made);
      return made;
    },
    peek: (key) => entries.get(key),
    set,
    drop: (key) => entries.delete(key),
    clear: () => entries.clear(),
  };
}
