import type { Spec } from "../api/manifest.ts";
import { canonicalJson } from "../../base/pure/digest.ts";
import { isFields, own } from "../../base/pure/fields.ts";
import { childPath } from "../../base/pure/path.ts";

/** Dotted paths at which two specs differ, sorted; objects are descended into, a list counts as one value. */
export function changedPaths(before: Spec, after: Spec): string[] {
  return changes(before, after, "").sort();
}

function changes(before: unknown, after: unknown, path: string): string[] {
  if (isFields(before) && isFields(after)) {
    const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key));
    return [...Object.keys(before), ...added].flatMap((key) => {
      const [was, is] = [own(before, key), own(after, key)];
      // Most fields of most specs hold what they held before.
      return was === is ? [] : changes(was, is, childPath(path, key));
    });
  }
  // Only lists and objects can be the same without being one.
  const same =
    before === after || (isObject(before) && isObject(after) && canonicalJson(before) === canonicalJson(after));
  return same ? [] : [path];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
