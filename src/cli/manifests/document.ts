import { type Document, isMap, isSeq, type Node, parseAllDocuments } from "yaml";
import type { Variables } from "./interpolate.ts";
import type { Fault, Source } from "./source.ts";
import { manifestTags } from "./tags.ts";
import { type Place, readTree, spanOf } from "./tree.ts";

/** A file that holds manifests. */
export interface ManifestFile extends Source {
  /** Where the paths in it start from. */
  directory: string;
  json: boolean;
}

/** One manifest as written, with the place of every path in it. */
export interface Entry {
  file: ManifestFile;
  manifest: Record<string, unknown>;
  places: Map<string, Place>;
}

export interface DocumentSetup {
  variables: Variables;
  /** Reads a file named inside `file`. */
  readAsset: (file: ManifestFile, path: string) => Uint8Array;
  depthMax: number;
  nodesMax: number;
}

/**
 * The manifests of one file: a document each, or lists of them. JSON is read by the same parser, of whose language it
 * is a part, and so has positions too. What is wrong goes to `faults`; reading goes on, to find more.
 */
export function readDocuments(file: ManifestFile, setup: DocumentSetup, faults: Fault[]): Entry[] {
  const documents = parseAllDocuments(file.text, { customTags: manifestTags, prettyErrors: false, logLevel: "silent" });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const broken = [...document.errors, ...document.warnings];
    for (const { code, message, pos } of broken) {
      faults.push({ span: { source: file, start: pos[0], end: pos[1] }, message: plainWords(code, message) });
    }
    if (document.errors.length > 0 || document.contents === null) return [];
    return manifestNodes(document.contents).flatMap((node) => readEntry(node, { file, document, setup, faults }));
  });
}

function manifestNodes(contents: Node): Node[] {
  return isSeq(contents) ? (contents.items as Node[]) : [contents];
}

interface EntrySetup {
  file: ManifestFile;
  document: Document;
  setup: DocumentSetup;
  faults: Fault[];
}

function readEntry(node: Node, { file, document, setup, faults }: EntrySetup): Entry[] {
  // An empty document, as after a closing `---`, is not a manifest and not a fault.
  if ("value" in node && node.value === null) return [];
  if (!isMap(node)) {
    faults.push({ span: spanOf(node, file), message: "a manifest is a map with kind, scope, name and spec" });
    return [];
  }
  const { value, places } = readTree(node, {
    source: file,
    json: file.json,
    document,
    variables: setup.variables,
    readAsset: (path) => setup.readAsset(file, path),
    depthMax: setup.depthMax,
    nodesMax: setup.nodesMax,
    faults,
  });
  return [{ file, manifest: value as Record<string, unknown>, places }];
}

/** The parser's messages in the style of ours; the code decides where its wording would not help. */
function plainWords(code: string, message: string): string {
  if (code === "DUPLICATE_KEY") return "this key is in the map twice";
  if (code === "TAB_AS_INDENT") return "tabs cannot indent: use spaces";
  if (code === "RESOURCE_EXHAUSTION") return "nested too deep";
  if (code === "TAG_RESOLVE_FAILED") return `${lowerFirst(message)}: known tags are !file and !url`;
  return lowerFirst(message).replace(/\.$/, "");
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
