import { specSchemas } from "../../../orchestration/api/kinds/schemas.ts";
import type { WritableKind } from "../../../orchestration/api/kinds/schemas.ts";
import { parseKind } from "../../../orchestration/core/kind.ts";
import type { SchemaNode } from "../../../orchestration/core/schema-fields.ts";
import { fieldOf, isSwitch } from "../hcl/values.ts";
import { hasMarks } from "../kept.ts";
import { endPath } from "./comments.ts";
import { hclValue, isWord } from "./hcl-value.ts";
import { commentLine, headComments, type Writable } from "./words.ts";
import { isFields } from "../../../base/pure/fields.ts";

/** One manifest as an HCL block; the formatter indents it. */
export function writeHcl(writable: Writable): string {
  const { manifest, comments } = writable;
  const written = typeof manifest.kind === "string" ? manifest.kind : "";
  const kind = parseKind(written);
  const word = kind ?? written;
  if (!isWord(word)) writable.refuse("kind", `"${word}" cannot be the word of a block in HCL`);
  const lines = headComments(comments).map(commentLine);
  lines.push(`${[word, ...labels(writable, kind)].join(" ")} {`);
  const before = lines.length;
  lines.push(...specLines(writable, kind), ...comments.above(endPath).map(commentLine));
  if (lines.length === before) lines[before - 1] += "}";
  else lines.push("}");
  lines.push(...comments.rest().map(commentLine));
  return `${lines.join("\n")}\n`;
}

function labels({ manifest, refuse }: Writable, kind: WritableKind | undefined): string[] {
  const { scope, name } = manifest;
  const metadata = isFields(manifest.metadata) ? manifest.metadata : {};
  if (metadata.if_revision !== undefined) refuse("metadata.if_revision", "HCL has no metadata: leave it out first");
  for (const field of Object.keys(manifest)) {
    if (!["kind", "scope", "name", "spec", "metadata"].includes(field)) refuse(field, "unknown field");
  }
  if (typeof name !== "string") refuse("name", "a block in HCL needs a name");
  if (kind === "registry" && scope !== undefined && scope !== "") refuse("scope", "a registry has no scope");
  const scoped = scope !== undefined && scope !== "" && kind !== "registry";
  if (!scoped && kind !== undefined && kind !== "registry" && kind !== "asset") {
    refuse("scope", `a block of this kind needs a scope in HCL: ${kind} "SCOPE" "NAME"`);
  }
  return [...(scoped ? [label(scope, "scope", refuse)] : []), label(name, "name", refuse)];
}

function label(value: unknown, path: string, refuse: Writable["refuse"]): string {
  const text = String(value);
  if (hasMarks(text)) refuse(path, "a label of HCL cannot hold a variable: write the text itself");
  else if (!isLabel(value)) refuse(path, "this text cannot be a label of HCL: it would need escapes");
  return `"${text}"`;
}

function isLabel(value: unknown): value is string {
  return typeof value === "string" && !/["\\\x00-\x1f]|[$%]\{/.test(value) && !hasMarks(value);
}

function specLines(writable: Writable, kind: WritableKind | undefined): string[] {
  const spec = writable.manifest.spec ?? {};
  const schema = kind === undefined ? undefined : (specSchemas[kind] as object as SchemaNode);
  if (!isFields(spec)) {
    writable.refuse("spec", "a spec is a map of fields");
    return [];
  }
  if (kind === "asset") return assetLines(writable, spec, schema);
  const at = { path: "spec", schema, depth: 1 };
  if (kind !== "cronjob" || !isFields(spec.job)) return fieldLines(writable, spec, at);
  // What each run is made from stands in the block itself, but for fields that the cron job has too.
  const { job, ...own } = spec;
  const shared = (name: string) => schema?.properties?.[name] !== undefined;
  const split = (keep: boolean) => Object.fromEntries(Object.entries(job).filter(([name]) => shared(name) === keep));
  const inner = { path: "spec.job", schema: schema?.properties?.job, depth: 1 };
  const twice = split(true);
  return [
    ...fieldLines(writable, own, at),
    ...(Object.keys(twice).length === 0 ? [] : blockLines(writable, "job", twice, inner)),
    ...fieldLines(writable, split(false), inner),
  ];
}

function assetLines(writable: Writable, spec: Record<string, unknown>, schema: SchemaNode | undefined): string[] {
  const { files = {}, modes, ...more } = spec;
  for (const field of Object.keys(more)) writable.refuse(`spec.${field}`, "unknown field");
  if (!isFields(files)) {
    writable.refuse("spec.files", "files is a map of keys and contents");
    return [];
  }
  const node = schema?.properties?.files;
  const lines = Object.entries(files).flatMap(([name, value]) => {
    return attributeLines(writable, name, value, { path: `spec.files.${name}`, schema: fieldOf(node, name), depth: 1 });
  });
  if (!isFields(modes)) return lines;
  return [
    ...lines,
    ...blockLines(writable, "modes", modes, { path: "spec.modes", schema: schema?.properties?.modes, depth: 1 }),
  ];
}

interface At {
  path: string;
  schema: SchemaNode | undefined;
  /** How many blocks it is in. */
  depth: number;
}

function fieldLines(writable: Writable, fields: Record<string, unknown>, { path, schema, depth }: At): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const at = { path: `${path}.${name}`, schema: fieldOf(schema, name), depth };
    if (isBlock(value, schema, at.schema) && isWord(name)) return blockLines(writable, name, value, at);
    const word = blockWord(name, value, schema);
    if (word === undefined) return attributeLines(writable, name, value, at);
    const items = value as Record<string, unknown>[];
    const above = writable.comments.above(at.path);
    return [
      ...above.map(commentLine),
      ...items.flatMap((item, index) => {
        return blockLines(writable, word, item, { path: `${at.path}[${index}]`, schema: at.schema?.items, depth });
      }),
    ];
  });
}

/** An object of fields: those of a kind, or of a block that takes any. */
function isBlock(
  value: unknown,
  holder: SchemaNode | undefined,
  schema: SchemaNode | undefined,
): value is Record<string, unknown> {
  if (!isFields(value)) return false;
  if (holder === undefined) return Object.keys(value).length > 0 && Object.keys(value).every(isWord);
  return schema?.properties !== undefined && Object.keys(value).every(isWord);
}

/** The word that the items of a list are written with, one block each; undefined where it is written as a list. */
function blockWord(name: string, value: unknown, schema: SchemaNode | undefined): string | undefined {
  const items = fieldOf(schema, name)?.items;
  if (items?.properties === undefined || !Array.isArray(value) || value.length === 0 || !isWord(name)) return undefined;
  const isWritable = value.every((item) => isFields(item) && Object.keys(item).every(isWord));
  if (!isWritable) return undefined;
  const one = name.replace(/s$/, "");
  const other = schema?.properties?.[one];
  return other === undefined || isSwitch(other) ? one : name;
}

function blockLines(writable: Writable, word: string, fields: Record<string, unknown>, at: At): string[] {
  const { name, ...rest } = fields;
  const isLabelled = isLabel(name) && at.schema?.properties?.name !== undefined && /\]$/.test(at.path);
  const above = writable.comments.above(at.path);
  if (isLabelled) above.push(...writable.comments.above(`${at.path}.name`));
  const behind =
    writable.comments.behind(at.path) ?? (isLabelled ? writable.comments.behind(`${at.path}.name`) : undefined);
  const lines = fieldLines(writable, isLabelled ? rest : fields, { ...at, depth: at.depth + 1 });
  const start = `${word}${isLabelled ? ` "${name}"` : ""} {`;
  const end = behind === undefined ? "" : ` ${commentLine(behind)}`;
  if (lines.length === 0) return [...above.map(commentLine), `${start}}${end}`];
  return [...above.map(commentLine), start + end, ...lines, "}"];
}

function attributeLines(writable: Writable, name: string, value: unknown, at: At): string[] {
  if (!isWord(name)) {
    writable.refuse(at.path, `"${name}" cannot be the name of an attribute in HCL: it begins with a letter or "_"`);
    return [];
  }
  const above = writable.comments.above(at.path).map(commentLine);
  const behind = writable.comments.behind(at.path);
  const written = hclValue(writable, value, at);
  if (behind === undefined) return [...above, `${name} = ${written}`];
  // A value of several lines has its comment above.
  return written.includes("\n")
    ? [...above, commentLine(behind), `${name} = ${written}`]
    : [...above, `${name} = ${written} ${commentLine(behind)}`];
}
