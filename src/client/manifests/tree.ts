import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from "yaml";
import type { Place } from "./entry.ts";
import type { Variables } from "./interpolate.ts";
import { keptFile } from "./kept.ts";
import { isAssetFile, isEnvironment } from "./paths.ts";
import { readScalar } from "./scalar.ts";
import type { Fault, Source, Span } from "./source.ts";
import { assetFile, assetUrl } from "./tags.ts";

interface TreeSetup {
  source: Source;
  json: boolean;
  document: Document;
  variables: Variables | "kept";
  /** Content of a file named in the source; throws an Error with a text for the operator. */
  readAsset: (path: string) => Uint8Array;
  depthMax: number;
  nodesMax: number;
  faults: Fault[];
}

/** A plain value with the place of every path in it; paths are written as the server writes them: `spec.ports[0]`. */
interface Tree {
  value: unknown;
  places: Map<string, Place>;
}

interface Position {
  path: string;
  depth: number;
  key?: Span | undefined;
}

/** One tree being read. */
interface Reading extends TreeSetup {
  root: Node;
  places: Map<string, Place>;
  /** What aliases stand for: the parser searches the whole document for it each time. */
  targets: Map<Alias, Node | undefined>;
  nodes: number;
}

/** Turns a YAML node into a plain value; what is wrong with it goes to `setup.faults`. */
export function readTree(root: Node, setup: TreeSetup): Tree {
  const reading: Reading = { ...setup, root, places: new Map(), targets: new Map(), nodes: 0 };
  return { value: read(reading, root, { path: "", depth: 0 }), places: reading.places };
}

function read(reading: Reading, node: Node | null, at: Position): unknown {
  const span = spanAt(node, at.key ?? spanOf(reading.root, reading.source));
  reading.places.set(at.path, { value: span, key: at.key });
  reading.nodes += 1;
  if (reading.nodes > reading.nodesMax) return tooMany(reading, span);
  if (at.depth > reading.depthMax) return fail(reading, span, `nested deeper than ${reading.depthMax} levels`);
  if (isAlias(node)) return readAlias(reading, node, { ...at, span });
  if (node?.tag === "!file" || node?.tag === "!url") return readTagged(reading, node, { ...at, span });
  if (isMap(node)) return readMap(reading, node, at);
  if (isSeq(node)) {
    const place = (index: number) => ({ path: `${at.path}[${index}]`, depth: at.depth + 1 });
    return node.items.map((item, index) => read(reading, item as Node, place(index)));
  }
  return isScalar(node) ? scalarValue(reading, node, { ...at, span }) : null;
}

/** A position whose place in the source is known. */
interface Placed extends Position {
  span: Span;
}

function fail({ faults }: Reading, span: Span, message: string): undefined {
  faults.push({ span, message });
  return undefined;
}

/** Told once, however many are left. */
function tooMany(reading: Reading, span: Span): undefined {
  return reading.nodes === reading.nodesMax + 1 ? fail(reading, span, "too many values in one file") : undefined;
}

function resolveAlias({ targets, document }: Reading, alias: Alias): Node | undefined {
  if (!targets.has(alias)) targets.set(alias, alias.resolve(document));
  return targets.get(alias);
}

function readAlias(reading: Reading, alias: Alias, at: Placed): unknown {
  const target = resolveAlias(reading, alias);
  if (target === undefined) return fail(reading, at.span, `no anchor "&${alias.source}" before this`);
  return read(reading, target, deeper(at));
}

function scalarValue(reading: Reading, node: Scalar, { path, span }: Placed): unknown {
  const environment = isEnvironment(path);
  const { value, problems } = readScalar(node, { variables: reading.variables, environment, json: reading.json });
  for (const { part, message } of problems) fail(reading, narrow(span, part), message);
  return value;
}

function readTagged(reading: Reading, node: Node, at: Placed): unknown {
  const { span } = at;
  if (!isAssetFile(at.path)) {
    return fail(reading, span, `${node.tag} has a meaning only below spec.files of an asset`);
  }
  const value = isScalar(node) ? scalarValue(reading, node, at) : isMap(node) ? readMap(reading, node, at) : undefined;
  if (node.tag === "!url") {
    return assetUrl(value) ?? fail(reading, span, "!url needs an address: !url https://… or !url {url: …}");
  }
  if (typeof value !== "string" || value === "") {
    return fail(reading, span, "!file needs a path: !file files/app.conf");
  }
  try {
    return reading.variables === "kept" ? keptFile(value) : assetFile(value, reading.readAsset(value));
  } catch (error) {
    return fail(reading, span, error instanceof Error ? error.message : String(error));
  }
}

function readMap(reading: Reading, map: YAMLMap, at: Position): Record<string, unknown> {
  const merged: [string, unknown][] = [];
  const own: [string, unknown][] = [];
  const names = new Set<string>();
  // Merge keys first, so that the places of the map's own keys win as its values do.
  const pairs = (map.items as Pair<Node, Node | null>[]).toSorted((a, b) => Number(isMerge(b)) - Number(isMerge(a)));
  for (const pair of pairs) {
    const key = spanOf(pair.key, reading.source);
    const name = keyText(pair.key);
    if (name !== undefined && names.has(name)) {
      fail(reading, key, "this key is in the map twice");
      continue;
    }
    if (name !== undefined) names.add(name);
    if (isMerge(pair)) merged.push(...mergeEntries(reading, pair.value, { ...at, span: key }));
    else if (name === undefined) fail(reading, key, "a key must be text");
    else own.push([name, read(reading, pair.value, { path: join(at.path, name), depth: at.depth + 1, key })]);
  }
  return Object.fromEntries([...merged, ...own]);
}

function mergeEntries(reading: Reading, value: Node | null, at: Placed): [string, unknown][] {
  const target = isAlias(value) ? resolveAlias(reading, value) : value;
  const maps = isSeq(target) ? target.items : [target];
  // The first map of a list wins, so it comes last.
  return maps.toReversed().flatMap((item) => {
    const map = isAlias(item) ? resolveAlias(reading, item) : item;
    reading.nodes += 1;
    if (reading.nodes > reading.nodesMax) return tooMany(reading, at.span) ?? [];
    if (isMap(map) && at.depth < reading.depthMax) return Object.entries(readMap(reading, map, deeper(at)));
    fail(reading, at.span, "a merge key needs a map: <<: *anchor");
    return [];
  });
}

function deeper({ path, depth, key }: Position): Position {
  return { path, depth: depth + 1, key };
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
