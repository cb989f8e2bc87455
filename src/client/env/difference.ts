type Variables = Readonly<Record<string, string>>;

/** The keys, sorted, that differ between two sets of variables. */
export interface Difference {
  added: string[];
  changed: string[];
  removed: string[];
}

export function difference(before: Variables, after: Variables): Difference {
  const has = (side: Variables, key: string) => Object.hasOwn(side, key);
  return {
    added: keysOf(after).filter((key) => !has(before, key)),
    changed: keysOf(after).filter((key) => has(before, key) && before[key] !== after[key]),
    removed: keysOf(before).filter((key) => !has(after, key)),
  };
}

function keysOf(side: Variables): string[] {
  return Object.keys(side).sort();
}

export function isSame({ added, changed, removed }: Difference): boolean {
  return added.length + changed.length + removed.length === 0;
}

/** `+ KEY`, `~ KEY`, `- KEY`: keys only, for values may be secrets. */
export function differenceLines({ added, changed, removed }: Difference): string[] {
  return [...added.map((key) => `+ ${key}`), ...changed.map((key) => `~ ${key}`), ...removed.map((key) => `- ${key}`)];
}
