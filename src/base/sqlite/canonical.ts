/** JSON with the keys of every object in one order: equal content, equal text. */
export function canonicalJson(value: object): string {
  return JSON.stringify(ordered(value));
}

/** A copy whose objects have their keys in order; undefined fields stay undefined and are left out by JSON. */
function ordered(item: unknown): unknown {
  if (typeof item !== "object" || item === null) return item;
  if (Array.isArray(item)) return item.map(ordered);
  const keys = Object.keys(item).sort();
  // fromEntries defines own properties, so that a key named __proto__ stays a key.
  return Object.fromEntries(keys.map((key) => [key, ordered(Reflect.get(item, key))]));
}
