import type { Spec } from "../api/manifest.ts";
import { canonicalJson } from "../../base/pure/digest.ts";
import { isFields } from "../../base/pure/fields.ts";
import { childPath } from "../../base/pure/path.ts";

interface ChangedValue {
  path: string;
  /** Undefined: was absent. */
  before: unknown;
  /** Undefined: is absent now. */
  after: unknown;
}

/** Dotted paths at which two specs differ, sorted; objects are descended into, a list counts as one value. */
export function changedPaths(before: Spec, after: Spec): string[] {
  return changes(before, after).map(({ path }) => path);
}

/**
 * What differs, with the values. `shown` gives the values to show instead, for example masked ones: a change of a
 * secret is then listed although both sides look the same.
 */
export function changedValues(
  before: Spec,
  after: Spec,
  shown: { before: Spec; after: Spec } = { before, after },
): ChangedValue[] {
  return changes(before, after).map(({ path, keys }) => ({
    path,
    before: valueAt(shown.before, keys),
    after: valueAt(shown.after, keys),
  }));
}

interface Change {
  path: string;
  keys: string[];
}

function changes(before: Spec, after: Spec): Change[] {
  const found: Change[] = [];
  collect({ before, after, path: "", keys: [] }, found);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function collect(pair: Change & { before: unknown; after: unknown }, found: Change[]): void {
  const { before, after, path, keys } = pair;
  if (!isFields(before) || !isFields(after)) {
    if (before === after) return;
    // Only lists and objects can be the same without being one.
    const same = isObject(before) && isObject(after) && canonicalJson(before) === canonicalJson(after);
    if (!same) found.push({ path, keys });
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    collect(
      { before: own(before, key), after: own(after, key), path: childPath(path, key), keys: [...keys, key] },
      found,
    );
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function valueAt(spec: Spec, keys: string[]): unknown {
  return keys.reduce<unknown>((value, key) => (isFields(value) ? own(value, key) : undefined), spec);
}

function own(fields: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}
