import { isFields } from "../../base/pure/fields.ts";
import { childPath } from "../../base/pure/path.ts";

/** A field that two specs have otherwise. */
interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

const shownMax = 120;

/** `image: "web:1" → "web:2"`, `env.DEBUG: removed (was "1")`. */
export function changeText({ path, before, after }: Change): string {
  if (after === undefined) return `${path}: removed (was ${valueText(before)})`;
  if (before === undefined) return `${path}: added ${valueText(after)}`;
  return `${path}: ${valueText(before)} → ${valueText(after)}`;
}

export function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

/** What two specs have otherwise, in the order of the paths; objects are descended into, a list counts as one value. */
export function specChanges(before: unknown, after: unknown, path = ""): Change[] {
  if (isFields(before) && isFields(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => specChanges(before[key], after[key], childPath(path, key)));
  }
  // An object that came or went is shown field by field, too.
  if (isFields(before) && after === undefined) return specChanges(before, {}, path);
  if (isFields(after) && before === undefined) return specChanges({}, after, path);
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}
