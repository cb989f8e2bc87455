import { isFields } from "../../../base/pure/fields.ts";

interface Difference {
  path: string;
  /** Both as short text. */
  before: string;
  after: string;
}

/** Where two plain values differ first; undefined where they are the same. The order of fields does not count. */
export function firstDifference(before: unknown, after: unknown, path: string): Difference | undefined {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return firstOf(before.keys(), (index) => firstDifference(before[index], after[index], `${path}[${index}]`));
  }
  if (isFields(before) && isFields(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return firstOf(names.values(), (name) => {
      const [one, other] = [own(before, name), own(after, name)];
      return firstDifference(one, other, path === "" ? name : `${path}.${name}`);
    });
  }
  if (Object.is(before, after) || (before === 0 && after === 0)) return undefined;
  return { path, before: shown(before), after: shown(after) };
}

function own(fields: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function firstOf<Key>(keys: Iterable<Key>, find: (key: Key) => Difference | undefined): Difference | undefined {
  for (const key of keys) {
    const found = find(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

const shownMax = 40;

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
