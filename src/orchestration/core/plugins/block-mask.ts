import type { Problem } from "../../../base/wire/failure.ts";
import type { Spec } from "../../api/manifest.ts";
import { MASK } from "../mask.ts";
import { childPath } from "../../../base/pure/path.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** What the fields of blocks are called that hold secrets: only their plugins know their specs. */
const secretField = /pass(word|phrase)?$|secret|token$|(private|access|api)_?key$/i;

/** The spec of a block as it may be shown. */
export function maskBlock(spec: Spec): Spec {
  return mapTexts(spec, "", (text, { field }) => (secretField.test(field) && text !== "" ? MASK : text)) as Spec;
}

/** Puts the stored texts back where an incoming spec holds the mask; a mask without one is a problem. */
export function restoreBlock(incoming: Spec, stored: Spec | undefined): { spec: Spec; problems: Problem[] } {
  const known = new Map<string, string>();
  if (stored !== undefined) {
    mapTexts(stored, "spec", (text, { path }) => {
      known.set(path, text);
      return text;
    });
  }
  const problems: Problem[] = [];
  const spec = mapTexts(incoming, "spec", (text, { path }) => {
    if (text !== MASK) return text;
    const found = known.get(path);
    if (found === undefined)
      problems.push({ path, message: "is masked and no value is stored for it; write the value" });
    return found ?? text;
  });
  return { spec: spec as Spec, problems };
}

interface Place {
  path: string;
  /** Name of the nearest field. */
  field: string;
}

/** A copy with every text replaced by what `f` returns. */
function mapTexts(value: unknown, path: string, f: (text: string, at: Place) => string, field = ""): unknown {
  if (typeof value === "string") return f(value, { path, field });
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, childPath(path, index), f, field));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, childPath(path, key), f, key)]),
  );
}
