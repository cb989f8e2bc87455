import { formatKey, type ManifestKey, type Spec } from "../api/manifest.ts";
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

/** What is wanted of one resource. `children`: of a block of a plugin, what it was expanded into. */
interface Wanted extends ManifestKey {
  spec: Spec;
  revision: number;
  children: readonly ManifestKey[] | undefined;
}

/**
 * What leads from `now` back to `then`, within a scope, what has a name in it, or all: `writes` have another spec now or are
 * gone, `deletes` were not wanted. What a block makes is left to the block. Give both states with the whole scope: a block
 * has children of other names.
 */
export function wayBack<W extends Wanted>(
  then: readonly W[],
  now: readonly Wanted[],
  part: Partial<Pick<ManifestKey, "scope" | "name">>,
) {
  const stands = new Map(now.map((one) => [formatKey(one), one]));
  const meant = ownWords(then).filter((one) => isMeant(one, part));
  const children = meant.flatMap((one) => one.children ?? []);
  const stays = new Set([...meant, ...children].map(formatKey));
  const wanted = new Map(then.map((one) => [formatKey(one), one]));
  const isSame = (key: ManifestKey) => {
    const [before, after] = [wanted.get(formatKey(key))?.spec, stands.get(formatKey(key))?.spec];
    return before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after);
  };
  return {
    writes: meant.filter((one) => !isSame(one) || one.children?.every(isSame) === false),
    deletes: ownWords(now).filter((one) => isMeant(one, part) && !stays.has(formatKey(one))),
  };
}

/** Without what blocks were expanded into. */
function ownWords<W extends Wanted>(state: readonly W[]): W[] {
  const made = new Set(state.flatMap(({ children = [] }) => children.map(formatKey)));
  return state.filter((one) => !made.has(formatKey(one)));
}

function isMeant(key: ManifestKey, { scope, name }: Partial<Pick<ManifestKey, "scope" | "name">>): boolean {
  return (scope === undefined || key.scope === scope) && (name === undefined || key.name === name);
}
