import { type Document, isMap, isSeq, type Node, parseAllDocuments } from "yaml";
import type { Entry, ManifestFile } from "./entry.ts";
import { readHcl } from "./hcl/document.ts";
import type { Variables } from "./interpolate.ts";
import type { Fault } from "./source.ts";
import { manifestTags } from "./tags.ts";
import { readTree, spanOf } from "./tree.ts";
import { yamlFault } from "./yaml-words.ts";

/** How manifests are read. With "kept" as variables, references and files to embed stay, as marks (`kept.ts`). */
export interface DocumentSetup {
  variables: Variables | "kept";
  /** Reads a file named inside `file`. */
  readAsset: (file: ManifestFile, path: string) => Uint8Array;
  depthMax: number;
  nodesMax: number;
  /** Documents in one file. */
  documentsMax?: number;
}

/**
 * The manifests of one file: a document each, or lists of them, or blocks. JSON is read by the same parser, of whose language it
 * is a part, and so has positions too. What is wrong goes to `faults`; reading goes on, to find more.
 */
export function readDocuments(file: ManifestFile, setup: DocumentSetup, faults: Fault[]): Entry[] {
  if (file.format === "hcl") return readHcl(file, setup, faults);
  const count = [...file.text.matchAll(/^---(?=\s|$)/gm)].length;
  const { documentsMax = Number.POSITIVE_INFINITY } = setup;
  if (count > documentsMax) {
    const message = `${count} documents in one file; at most ${documentsMax} are read: split it into several`;
    faults.push({ span: { source: file, start: 0, end: 1 }, message });
    return [];
  }
  const documents = parseAllDocuments(file.text, parserOptions);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    faults.push(...parserFaults(document, file));
    if (document.errors.length > 0 || document.contents === null) return [];
    return manifestNodes(document.contents).flatMap((node) => readEntry(node, { file, document, setup, faults }));
  });
}

/** The parser would compare each key with all before it; `readTree` finds the ones that are there twice. */
const parserOptions = { customTags: manifestTags, prettyErrors: false, logLevel: "silent", uniqueKeys: false } as const;

/** One complaint a line: what follows the first is mostly its echo. */
function parserFaults(document: Document, file: ManifestFile): Fault[] {
  const lines = new Set<number>();
  return [...document.errors, ...document.warnings].flatMap((complaint) => {
    const { code, pos } = complaint;
    const line = file.text.lastIndexOf("\n", pos[0] - 1);
    if (lines.has(line)) return [];
    lines.add(line);
    const fault = yamlFault(document, complaint, file);
    const hint = code === "TAG_RESOLVE_FAILED" ? "" : quotingHint(file.text, pos[0]);
    return [{ ...fault, message: fault.message + hint }];
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
    json: file.format === "json",
    document,
    variables: setup.variables,
    readAsset: (path) => setup.readAsset(file, path),
    depthMax: setup.depthMax,
    nodesMax: setup.nodesMax,
    faults,
  });
  return [{ file, manifest: value as Record<string, unknown>, places }];
}

/** `${` opens a map where it stands bare inside brackets, and the parser's complaint about that explains nothing. */
function quotingHint(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const line = text.slice(start, end === -1 ? undefined : end);
  return /[[{,]/.test(line.slice(0, Math.max(0, line.lastIndexOf("${"))))
    ? `; inside [ ] and { } a value with "\${" needs quotes`
    : "";
}
