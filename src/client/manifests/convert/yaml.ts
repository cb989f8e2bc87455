import { Document, isCollection, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import type { SchemaNode } from "../../../orchestration/core/schema-fields.ts";
import { specSchemas } from "../../../orchestration/api/kinds/schemas.ts";
import { parseKind } from "../../../orchestration/core/kind.ts";
import { fieldOf } from "../hcl/values.ts";
import { fileOf, hasMarks, partsOf } from "../kept.ts";
import { isAssetFile, isEnvironment } from "../paths.ts";
import { manifestTags } from "../tags.ts";
import { endPath } from "./comments.ts";
import { commentLine, headComments, isPlain, isText, type Writable } from "./words.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** One manifest as a YAML document, without the dashes before it. */
export function writeYaml(writable: Writable): string {
  const { manifest, comments } = writable;
  const document = new Document(null, { customTags: manifestTags });
  const head = headComments(comments);
  const kind = parseKind(String(manifest.kind));
  const schema = kind === undefined ? undefined : (specSchemas[kind] as object as SchemaNode);
  const root = new YAMLMap();
  for (const [name, value] of Object.entries(manifest)) {
    const node = nodeOf(writable, value, { path: name, schema: name === "spec" ? schema : undefined });
    root.items.push(new Pair(new Scalar(name), node));
  }
  document.contents = root as never;
  const body = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  const end = comments.above(endPath).map((line) => `  ${commentLine(line)}`);
  return `${[...head.map(commentLine), body.trimEnd(), ...end, ...comments.rest().map(commentLine)].join("\n")}\n`;
}

interface At {
  path: string;
  schema: SchemaNode | undefined;
}

function nodeOf(writable: Writable, value: unknown, at: At): Node {
  if (Array.isArray(value)) return listOf(writable, value, at);
  if (isFields(value)) return mapOf(writable, value, at);
  if (typeof value !== "string") return new Scalar(value);
  const file = fileOf(value);
  return file === undefined ? textOf(value, at) : tagged(new Scalar(writtenText(file)), "!file");
}

function listOf(writable: Writable, list: readonly unknown[], { path, schema }: At): Node {
  const seq = new YAMLSeq();
  list.forEach((item, index) => {
    const at = { path: `${path}[${index}]`, schema: schema?.items };
    const node = commented(writable, nodeOf(writable, item, at), at.path);
    const above = writable.comments.above(at.path);
    if (above.length > 0) node.commentBefore = commentText(above);
    seq.items.push(node);
  });
  seq.flow = list.length === 0;
  return seq;
}

function mapOf(writable: Writable, fields: Record<string, unknown>, at: At): Node {
  const { _source: source, ...rest } = fields;
  if (isAssetFile(at.path) && source === "url" && typeof fields.url === "string") {
    const { url, ...options } = rest;
    const tag = "!url";
    if (Object.keys(options).length === 0) return tagged(new Scalar(writtenText(fields.url)), tag);
    return tagged(plainMap(writable, { url, ...options }, at), tag);
  }
  return plainMap(writable, fields, at);
}

function plainMap(writable: Writable, fields: Record<string, unknown>, { path, schema }: At): YAMLMap {
  const map = new YAMLMap();
  for (const [name, value] of Object.entries(fields)) {
    const at = { path: `${path}.${name}`, schema: fieldOf(schema, name) };
    if (hasMarks(name)) writable.refuse(path, "a key that holds a variable cannot be written in YAML");
    const key = new Scalar(name);
    // Plain, it would merge another map into this one.
    if (name === "<<") key.type = "QUOTE_DOUBLE";
    const above = writable.comments.above(at.path);
    if (above.length > 0) key.commentBefore = commentText(above);
    map.items.push(new Pair(key, commented(writable, nodeOf(writable, value, at), at.path)));
  }
  map.flow = map.items.length === 0;
  return map;
}

function tagged<T extends Node>(node: T, tag: string): T {
  node.tag = tag;
  return node;
}

/** With the comment that stands behind it. */
function commented(writable: Writable, node: Node, path: string): Node {
  const behind = writable.comments.behind(path);
  if (behind === undefined) return node;
  // Behind the key of a collection, not below its last item.
  if (isCollection(node) && node.flow !== true) node.commentBefore = ` ${behind}`;
  else node.comment = ` ${behind}`;
  return node;
}

function commentText(lines: readonly string[]): string {
  return lines.map((line) => ` ${line}`).join("\n");
}

function textOf(value: string, { path, schema }: At): Scalar {
  const { parts, bare } = partsOf(value);
  const scalar = new Scalar(writtenText(value));
  const isReference = parts.length === 1 && parts[0]?.type === "reference";
  const staysText = isText(schema) || isEnvironment(path) || !(bare || isPlain(schema));
  if (isReference) scalar.type = staysText ? "QUOTE_DOUBLE" : "PLAIN";
  else if (!value.isWellFormed()) scalar.type = "QUOTE_DOUBLE";
  else if (value.includes("\n")) scalar.type = /^\S[\s\S]*\S\n?$/.test(value) ? "BLOCK_LITERAL" : "QUOTE_DOUBLE";
  return scalar;
}

/** With references as YAML manifests write them; a dollar sign that would begin one is doubled. */
function writtenText(value: string): string {
  const { parts } = partsOf(value);
  const texts = parts.map((part, index) => {
    if (part.type === "reference") return `\${${part.inner}}`;
    const next = parts[index + 1] === undefined ? "" : "{";
    return (part.text + next)
      .replaceAll(/\$+(?=\{)|\$\$+/g, (signs) => signs + signs)
      .slice(0, next === "" ? undefined : -1);
  });
  return texts.join("");
}
