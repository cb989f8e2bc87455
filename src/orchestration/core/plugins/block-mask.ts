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

/**
 * Puts the stored texts back where an incoming spec holds the mask. A mask without a stored text is a problem, and so is
 * one beside an address that changed: the stored secret would go to the new address.
 */
export function restoreBlock(incoming: Spec, stored: Spec | undefined): { spec: Spec; problems: Problem[] } {
  const known = stored === undefined ? new Map<string, Text>() : textsOf(stored);
  const now = textsOf(incoming);
  const problems: Problem[] = [];
  const spec = mapTexts(incoming, "spec", (text, { path }) => {
    if (text !== MASK) return text;
    const found = known.get(path);
    if (found === undefined) {
      problems.push({ path, message: "is masked and no value is stored for it; write the value" });
      return text;
    }
    const moved = movedAddress(path, known, now);
    if (moved !== undefined) problems.push({ path, message: `is masked, and ${moved} has changed; write the value` });
    return moved === undefined ? found.text : text;
  });
  return { spec: spec as Spec, problems };
}

interface Text {
  text: string;
  field: string;
}

function textsOf(spec: Spec): Map<string, Text> {
  const texts = new Map<string, Text>();
  mapTexts(spec, "spec", (text, { path, field }) => {
    texts.set(path, { text, field });
    return text;
  });
  return texts;
}

/** What fields of blocks are called that say where something is sent. */
const addressField =
  /(^|_)(ur[il]|endpoint|host(name)?|addr(ess)?|server|registry|proxy|bucket|target|destination|remote)$/i;

function isAddress({ text, field }: Text): boolean {
  return addressField.test(field) || /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** The first address within the same top-level field that is not the stored one; a secret at the top can go to any. */
function movedAddress(secret: string, known: ReadonlyMap<string, Text>, now: ReadonlyMap<string, Text>) {
  const own = topOf(secret);
  const isTop = own === secret;
  const paths = new Set([...known.keys(), ...now.keys()]);
  return [...paths].find((path) => {
    if (!isTop && topOf(path) !== own) return false;
    const [before, after] = [known.get(path), now.get(path)];
    if (before?.text === after?.text) return false;
    return (before !== undefined && isAddress(before)) || (after !== undefined && isAddress(after));
  });
}

/** `spec.backup` of `spec.backup.s3.key`. */
function topOf(path: string): string {
  return /^spec(?:\.[^.[]+|\["[^"]*"\])?/.exec(path)?.[0] ?? path;
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
