import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import type { Variables } from "./interpolate.ts";
import { readScalar } from "./scalar.ts";
import type { Fault, Source, Span } from "./source.ts";
import { assetFile, assetUrl } from "./tags.ts";

export interface TreeSetup {
  source: Source;
  json: boolean;
  document: Document;
  variables: Variables;
  /** Content of a file named in the source; throws an Error with a text for the operator. */
  readAsset: (path: string) => Uint8Array;
  depthMax: number;
  nodesMax: number;
  faults: Fault[];
}

/** Where a value, and the key before it, stand in the source. */
export interface Place {
  value: Span;
  key: Span | undefined;
}

/** A plain value with the place of every path in it; paths are written as the server writes them: `spec.ports[0]`. */
export interface Tree {
  value: unknown;
  places: Map<string, Place>;
}

interface Position {
  path: string;
  depth: number;
  key?: Span | undefined;
}

const root: Position = { path: "", depth: 0 };

/** Turns a YAML node into a plain value; what is wrong with it goes to `setup.faults`. */
export function readTree(node: Node, setup: TreeSetup): Tree {
  const places = new Map<string, Place>();
  const targets = new Map<Alias, Node | undefined>();
  let nodes = 0;

  /** The parser searches the whole document for it each time. */
  const resolveAlias = (alias: Alias): Node | undefined => {
    if (!targets.has(alias)) targets.set(alias, alias.resolve(setup.document));
    return targets.get(alias);
  };

  const fail = (span: Span, message: string): undefined => {
    setup.faults.push({ span, message });
    return undefined;
  };

  const read = (current: Node | null, at: Position): unknown => {
    const span = spanAt(current, at.key ?? spanOf(node, setup.source));
    places.set(at.path, { value: span, key: at.key });
    nodes += 1;
    if (nodes > setup.nodesMax) return nodes === setup.nodesMax + 1 ? fail(span, "too many values in one file") : null;
    if (at.depth > setup.depthMax) return fail(span, `nested deeper than ${setup.depthMax} levels`);
    if (isAlias(current)) return readAlias(current, at, span);
    if (current?.tag === "!file" || current?.tag === "!url") return readTagged(current, at, span);
    if (isMap(current)) return readMap(current, at);
    if (isSeq(current)) {
      return current.items.map((item, index) => {
        return read(item as Node, { path: `${at.path}[${index}]`, depth: at.depth + 1 });
      });
    }
    return isScalar(current) ? scalar(current, at, span) : null;
  };

  const readAlias = (alias: Alias, at: Position, span: Span): unknown => {
    const target = resolveAlias(alias);
    return target === undefined ? fail(span, `no anchor "&${alias.source}" before this`) : read(target, deeper(at));
  };

  const scalar = (current: Parameters<typeof readScalar>[0], at: Position, span: Span): unknown => {
    const environment = /^spec\.(?:.+\.)?env\.[^.]+$/.test(at.path);
    const result = readScalar(current, { variables: setup.variables, environment, json: setup.json });
    for (const { part, message } of result.problems) fail(narrow(span, part), message);
    return result.value;
  };

  const readTagged = (current: Node, at: Position, span: Span): unknown => {
    const tag = current.tag;
    if (!/^spec\.files\.[^.]+$/.test(at.path))
      return fail(span, `${tag} has a meaning only below spec.files of an asset`);
    const value = isScalar(current) ? scalar(current, at, span) : isMap(current) ? readMap(current, at) : undefined;
    if (tag === "!url") return assetUrl(value) ?? fail(span, "!url needs an address: !url https://… or !url {url: …}");
    if (typeof value !== "string" || value === "") return fail(span, "!file needs a path: !file files/app.conf");
    try {
      return assetFile(value, setup.readAsset(value));
    } catch (error) {
      return fail(span, error instanceof Error ? error.message : String(error));
    }
  };

  const readMap = (map: YAMLMap, at: Position): Record<string, unknown> => {
    const merged: [string, unknown][] = [];
    const own: [string, unknown][] = [];
    // Merge keys first, so that the places of the map's own keys win as its values do.
    const pairs = (map.items as Pair<Node, Node | null>[]).toSorted((a, b) => Number(isMerge(b)) - Number(isMerge(a)));
    for (const pair of pairs) {
      const key = spanOf(pair.key, setup.source);
      if (isMerge(pair)) merged.push(...mergeEntries(pair.value, at, key));
      else {
        const name = keyText(pair.key);
        if (name === undefined) fail(key, "a key must be text");
        else own.push([name, read(pair.value, { path: join(at.path, name), depth: at.depth + 1, key })]);
      }
    }
    return Object.fromEntries([...merged, ...own]);
  };

  const mergeEntries = (value: Node | null, at: Position, key: Span): [string, unknown][] => {
    const target = isAlias(value) ? resolveAlias(value) : value;
    const maps = isSeq(target) ? target.items : [target];
    // The first map of a list wins, so it comes last.
    return maps.toReversed().flatMap((item) => {
      const map = isAlias(item) ? resolveAlias(item) : item;
      nodes += 1;
      if (isMap(map) && at.depth < setup.depthMax) return Object.entries(readMap(map, deeper(at)));
      fail(key, "a merge key needs a map: <<: *anchor");
      return [];
    });
  };

  return { value: read(node, root), places };
}

function deeper(at: Position): Position {
  return { ...at, depth: at.depth + 1 };
}

/** The place of a value; one that is not written at all is shown at its key. */
function spanAt(node: Node | null, otherwise: Span): Span {
  const [start, end] = node?.range ?? [0, 0];
  return start === end ? otherwise : { ...otherwise, start, end };
}

export function spanOf(node: Node, source: Source): Span {
  const [start, end] = node.range ?? [0, 0];
  return { source, start, end };
}

/** The piece of a span where `part` is written, or the span when escapes hide it. */
function narrow(span: Span, part: string | undefined): Span {
  if (part === undefined) return span;
  const index = span.source.text.indexOf(part, span.start);
  return index === -1 || index >= span.end ? span : { ...span, start: index, end: index + part.length };
}

function isMerge(pair: Pair<Node, Node | null>): boolean {
  return isScalar(pair.key) && pair.key.value === "<<" && pair.key.type === "PLAIN";
}

/** Keys keep the text that was written: `0123:` stays "0123". */
function keyText(key: Node): string | undefined {
  if (!isScalar(key) || key.value === null) return undefined;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
