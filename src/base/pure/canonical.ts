/** JSON with the keys of every object in one order: equal content, equal text. */
export function orderedJson(value: object): string {
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
  const keys = Object.keys(fields);
  // Once for each field: twice at every level would double the work with every level.
  const values = keys.map((key) => inOrder<unknown>(Reflect.get(fields, key)));
  const isInOrder = keys.every(
    (key, at) => (keys[at - 1] ?? "") <= key && values[at] !== undefined && values[at] === Reflect.get(fields, key),
  );
  if (isInOrder) return fields;
  const entries = keys.map((key, at): [string, unknown] => [key, values[at]]);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  // fromEntries defines own properties, so that a key named __proto__ stays a key.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
