import { isFields } from "../../../base/pure/fields.ts";
import { counterparts } from "./options.ts";
import { overrideMark, resetMark } from "./parse.ts";
import { isScalar } from "./text.ts";

type Fields = Record<string, unknown>;

const keysOf = (form: "words" | "pairs") => counterparts.flatMap((one) => (one.form === form ? [one.key] : []));

/** Lists that Compose adds to; any other list of a later file takes the place of the earlier one. */
const added = [
  ...["ports", "expose", "env_file", "external_links", "links", "profiles", "volumes_from", "secrets", "configs"],
  ...keysOf("words"),
];

/** Maps that may be written as lists of `KEY=VALUE`. */
const paired = ["environment", "labels", "args", "annotations", ...keysOf("pairs")];

/** Maps from names that may be written as lists of names. */
const named = ["depends_on", "networks"];

/** A Compose file with a later one over it, as Compose merges them. */
export function mergeFiles(base: Fields, over: Fields): Fields {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    merged[key] = key === "services" ? mergeServices(base.services, value) : merge(key, base[key], value);
  }
  return merged;
}

function mergeServices(base: unknown, over: unknown): unknown {
  if (!isFields(base) || !isFields(over)) return isFields(over) ? over : (over ?? base);
  const merged = { ...base };
  for (const [name, fields] of Object.entries(over)) {
    const own = base[name];
    merged[name] = isFields(own) && isFields(fields) ? mergeService(own, fields) : merge(name, own, fields);
  }
  return merged;
}

/** A service with another one over it: of a later file, or what extends it. */
export function mergeService(base: Fields, over: Fields): Fields {
  return mergeMaps(base, over);
}

function mergeMaps(base: Fields, over: Fields): Fields {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = merge(key, base[key], value);
  return merged;
}

function merge(key: string, base: unknown, over: unknown): unknown {
  if (over === resetMark) return undefined;
  if (isFields(over) && overrideMark in over) return over[overrideMark];
  if (over === null || over === undefined) return base ?? over;
  if (base === null || base === undefined) return over;
  if (key === "build") return mergeMaps(contextOf(base), contextOf(over));
  if (paired.includes(key)) return mergeMaps(mapOf(base), mapOf(over));
  if (named.includes(key)) return mergeMaps(namesOf(base), namesOf(over));
  if (key === "volumes" && Array.isArray(base) && Array.isArray(over)) return byTarget([...base, ...over]);
  if (added.includes(key)) return distinct([...listOf(base), ...listOf(over)]);
  return isFields(base) && isFields(over) ? mergeMaps(base, over) : over;
}

/** Without what `!reset` and `!override` leave where there was nothing to merge with. */
export function cleared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleared);
  if (!isFields(value)) return value === resetMark ? undefined : value;
  if (overrideMark in value) return cleared(value[overrideMark]);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === resetMark ? [] : [[key, cleared(item)]])),
  );
}

function contextOf(build: unknown): Fields {
  return isFields(build) ? build : { context: build };
}

function mapOf(value: unknown): Fields {
  if (isFields(value)) return value;
  return Object.fromEntries(
    listOf(value)
      .filter(isScalar)
      .map((item) => {
        const text = String(item);
        const equals = text.indexOf("=");
        return equals === -1 ? [text, null] : [text.slice(0, equals), text.slice(equals + 1)];
      }),
  );
}

function namesOf(value: unknown): Fields {
  return isFields(value) ? value : Object.fromEntries(listOf(value).map((name) => [String(name), null]));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function distinct(list: unknown[]): unknown[] {
  const seen = new Set<string>();
  return list.filter((item) => {
    const text = JSON.stringify(item);
    return !seen.has(text) && seen.add(text);
  });
}

/** The last mount of each target. */
function byTarget(mounts: unknown[]): unknown[] {
  const last = new Map<string, unknown>();
  for (const mount of mounts) last.set(targetOf(mount), mount);
  return [...last.values()];
}

function targetOf(mount: unknown): string {
  if (isFields(mount)) return String(mount.target);
  const [first, second = first] = String(mount)
    .replaceAll(/\$\{[^}]*\}/g, "$")
    .split(":");
  return String(second);
}
