/** JSON with the keys of every object in one order: equal content, equal text. */
export function canonicalJson(value: object): string {
  return JSON.stringify(inOrder(value));
}

/**
 * The same JSON with the keys of every object in one order, and without undefined fields. What is in order already comes
 * back as it is, at every depth.
 */
export function inOrder<T>(value: T): T;
export function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? listInOrder(value) : fieldsInOrder(value);
}

function listInOrder(list: unknown[]): unknown[] {
  const ordered = list.map(inOrder<unknown>);
  return ordered.every((item, index) => item === list[index]) ? list : ordered;
}

function fieldsInOrder(fields: object): object {
  let before = "";
  const isInOrder = Object.keys(fields).every((key) => {
    const value: unknown = Reflect.get(fields, key);
    const isNext = before <= key && value !== undefined && inOrder(value) === value;
    before = key;
    return isNext;
  });
  if (isInOrder) return fields;
  const keys = Object.keys(fields).sort();
  const entries = keys.map((key): [string, unknown] => [key, inOrder<unknown>(Reflect.get(fields, key))]);
  // fromEntries defines own properties, so that a key named __proto__ stays a key.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
