import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar as isScalarNode,
  isSeq,
  Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLMap,
} from "yaml";
import { isFields } from "../../../base/pure/fields.ts";
import type { Fault, Source } from "../source.ts";
import { yamlFault } from "../yaml-words.ts";

/** One Compose file. */
export interface Parsed {
  source: Source;
  document: Document;
  value: Record<string, unknown>;
  /** Services whose settings others of the file take over, by an alias or by extends. */
  shared: ReadonlySet<string>;
}

/** What `!reset` leaves in a value, and the key of what `!override` wraps: for `merge.ts`. */
export const [resetMark, overrideMark] = ["\uE004reset", "\uE004override"];

/** A Compose file as plain values; what is wrong with its YAML goes to `faults`. */
export function parseCompose(source: Source, nodesMax: number, faults: Fault[]): Parsed | undefined {
  const document = parseDocument(source.text, { merge: true, prettyErrors: false, logLevel: "silent" });
  for (const error of document.errors) faults.push(yamlFault(document, error, source));
  if (document.errors.length > 0) return undefined;
  const fail = (message: string) => {
    faults.push({ span: { source, start: 0, end: 1 }, message });
    return undefined;
  };
  try {
    const shared = sharedServices(document);
    const value = plainOf(document, nodesMax);
    if (isFields(value) && (isFields(value.services) || value.include !== undefined))
      return { source, document, value, shared };
    return fail("this is not a Compose file: it has no services");
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** Plain values. Numbers that would print otherwise stay as they are written: `0.10`, `0755`. Throws an Error. */
export function plainOf(document: Document, nodesMax: number): unknown {
  visit(document, {
    Scalar(key, node: Scalar) {
      if (
        key !== "key" &&
        typeof node.value === "number" &&
        node.source !== undefined &&
        node.source !== String(node.value)
      ) {
        node.value = node.source;
      }
    },
    Node(_, node) {
      if (node.tag === "!reset") return new Scalar(resetMark);
      if (node.tag !== "!override") return undefined;
      delete node.tag;
      const wrapped = new YAMLMap();
      wrapped.items.push(new Pair(new Scalar(overrideMark), node));
      return wrapped;
    },
  });
  // Real files have hundreds of aliases: what they stand for is counted, not they.
  const plain: unknown = document.toJS({ maxAliasCount: -1 });
  let nodes = 0;
  const count = (value: unknown, around: Set<unknown>): void => {
    nodes += 1;
    if (nodes > nodesMax) throw new Error(`its aliases stand for more than ${nodesMax} values`);
    if (typeof value !== "object" || value === null) return;
    if (around.has(value)) throw new Error("an alias stands inside of what it stands for");
    around.add(value);
    for (const item of Object.values(value)) count(item, around);
    around.delete(value);
  };
  count(plain, new Set());
  return plain;
}

function sharedServices(document: Document): Set<string> {
  const services = document.get("services");
  const items = isMap(services) ? services.items : [];
  const nameOf = (key: unknown) => (isScalarNode(key) ? String(key.value) : "");
  const anchors = new Map(items.map(({ key, value }) => [(value as { anchor?: string } | null)?.anchor, nameOf(key)]));
  const found = items.flatMap(({ value }) => {
    if (!isMap(value)) return [];
    const aliases = value.items.flatMap(({ key, value: merged }) => {
      if (!isScalarNode(key) || key.source !== "<<") return [];
      return (isSeq(merged) ? merged.items : [merged]).map((one) => anchors.get(isAlias(one) ? one.source : ""));
    });
    const extended = value.get("extends");
    const named = isMap(extended) ? (extended.has("file") ? undefined : extended.get("service")) : extended;
    return [...aliases, typeof named === "string" ? named : undefined];
  });
  return new Set(found.filter((name) => name !== undefined));
}

/** Where a path is written: the file that has the longest part of it, the last one of several. */
export function placeIn(files: readonly Parsed[], path: string): { source: Source; start: number } | undefined {
  let best: { source: Source; start: number; depth: number } | undefined;
  for (const { source, document } of files) {
    const found = startOf(document, path);
    if (best === undefined || found.depth >= best.depth) best = { source, ...found };
  }
  return best;
}

/** Where the key of a path is written, or the closest one around it. */
function startOf(document: Document, path: string): { start: number; depth: number } {
  let node: unknown = document.contents;
  let [start, depth] = [0, 0];
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalarNode(item.key) && String(item.key.value) === key);
      if (pair === undefined) break;
      start = (pair.key as Scalar).range?.[0] ?? start;
      node = pair.value;
    } else {
      const items = (node as { items?: unknown[] } | null)?.items;
      const item = index === undefined ? undefined : items?.[Number(index)];
      if (item === undefined) break;
      start = (isNode(item) ? item.range?.[0] : undefined) ?? start;
      node = item;
    }
    depth += 1;
  }
  return { start, depth };
}
