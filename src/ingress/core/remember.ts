/**
 * The same function, with its last result for each object kept: it is computed again only when something else that it
 * depends on is another. For results that are never changed.
 */
export function remembered<K extends object, R extends readonly unknown[], V>(
  compute: (key: K, ...rest: R) => V,
): (key: K, ...rest: R) => V {
  const known = new WeakMap<K, { rest: R; value: V }>();
  return (key, ...rest) => {
    const had = known.get(key);
    if (had?.rest.every((one, at) => one === rest[at]) === true) return had.value;
    const value = compute(key, ...rest);
    known.set(key, { rest, value });
    return value;
  };
}

/** The new list, with the old objects in place of those that are equal to them: what is known of them stays known. */
export function shared<T extends { id: string }>(before: readonly T[], now: readonly T[]): T[] {
  const known = new Map(before.map((one) => [one.id, one]));
  return now.map((one) => {
    const had = known.get(one.id);
    return had !== undefined && had !== one && Bun.deepEquals(had, one) ? had : one;
  });
}
