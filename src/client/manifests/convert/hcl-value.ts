import type { SchemaNode } from "../../../orchestration/core/schema-fields.ts";
import { fieldOf } from "../hcl/values.ts";
import { fileOf, hasMarks, type KeptPart, partsOf } from "../kept.ts";
import { isAssetFile, isEnvironment } from "../paths.ts";
import { isPlain, isText, type Writable } from "./words.ts";
import { isFields } from "../../../base/pure/fields.ts";

interface At {
  path: string;
  schema: SchemaNode | undefined;
  /** How many blocks and brackets it is in. */
  depth: number;
  /** Something follows on the same line. */
  inList?: boolean;
}

/** A longer list has a line for each item. */
const listWidthMax = 80;

export function isWord(text: string): boolean {
  return /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u.test(text);
}

/** A value as an expression, on one line or several; the formatter indents it. */
export function hclValue(writable: Writable, value: unknown, at: At): string {
  if (Array.isArray(value)) return listText(writable, value, at);
  if (isFields(value)) return isAssetFile(at.path) ? fileText(writable, value, at) : objectText(writable, value, at);
  if (typeof value !== "string") return String(value);
  const file = fileOf(value);
  return file === undefined ? textOf(writable, value, at) : `file(${textOf(writable, file, { ...at, inList: true })})`;
}

function listText(writable: Writable, list: readonly unknown[], at: At): string {
  const { comments } = writable;
  const spread = comments.inside(`${at.path}[`);
  const lines = list.map((item, index) => {
    const path = `${at.path}[${index}]`;
    const isLast = index === list.length - 1;
    const above = comments.above(path).map((line) => `# ${line}`);
    const behind = comments.behind(path);
    const text = hclValue(writable, item, {
      path,
      schema: at.schema?.items,
      depth: at.depth + 1,
      inList: !isLast || behind !== undefined,
    });
    return { above, text, behind };
  });
  const inline = lines.map(({ text }) => text).join(", ");
  const single = lines.length === 1 && isFields(list[0]);
  if (!spread && (single || (!inline.includes("\n") && inline.length <= listWidthMax))) return `[${inline}]`;
  const rows = lines.map(({ above, text, behind }) => {
    const comma = isHeredoc(text) ? "" : ",";
    return [...above, `${text}${comma}${behind === undefined ? "" : ` # ${behind}`}`].join("\n");
  });
  return `[\n${rows.join("\n")}\n]`;
}

function isHeredoc(text: string): boolean {
  return text.startsWith("<<");
}

function objectText(writable: Writable, fields: Record<string, unknown>, { path, schema, depth }: At): string {
  const rows = Object.entries(fields).map(([name, value]) => {
    const at = { path: `${path}.${name}`, schema: fieldOf(schema, name), depth: depth + 1 };
    const above = writable.comments.above(at.path).map((line) => `# ${line}\n`);
    const behind = writable.comments.behind(at.path);
    const inList = behind !== undefined;
    const text = hclValue(writable, value, { ...at, inList });
    const key = isWord(name) ? name : quoted(writable, partsOf(name).parts, at.path);
    return `${above.join("")}${key} = ${text}${behind === undefined ? "" : ` # ${behind}`}\n`;
  });
  return rows.length === 0 ? "{}" : `{\n${rows.join("")}}`;
}

/** The file of an asset that is fetched from an address. */
function fileText(writable: Writable, fields: Record<string, unknown>, at: At): string {
  const { _source: source, url, ...options } = fields;
  if (source !== "url" || typeof url !== "string" || hasComments(writable, at)) return objectText(writable, fields, at);
  const address = textOf(writable, url, { ...at, inList: true });
  if (Object.keys(options).length === 0) return `url(${address})`;
  return `url(${address}, ${objectText(writable, options, at)})`;
}

function hasComments({ comments }: Writable, { path }: At): boolean {
  return comments.inside(`${path}.`);
}

function textOf(writable: Writable, value: string, at: At): string {
  const { parts, bare } = partsOf(value);
  for (const part of parts) if (part.type === "reference") refuseReference(writable, part.inner, at.path);
  const [first] = parts;
  const isPlainPlace = !isText(at.schema) && !isEnvironment(at.path) && (bare || isPlain(at.schema));
  if (parts.length === 1 && first?.type === "reference" && isPlainPlace) return `\${${first.inner}}`;
  return (at.inList === true ? undefined : heredoc(parts, at.depth)) ?? quoted(writable, parts, at.path);
}

/** A default is read up to its brace on one line, and without the blanks around it. */
function refuseReference(writable: Writable, inner: string, path: string): void {
  if (inner.includes("\n")) writable.refuse(path, "HCL has no default that goes over several lines");
  else if (inner !== inner.trim()) writable.refuse(path, "HCL has no default that ends in a blank");
}

function quoted(writable: Writable, parts: readonly KeptPart[], path: string): string {
  const texts = parts.map((part, index) => {
    if (part.type === "reference") return `\${${part.inner}}`;
    const text = part.text.replaceAll(special, (found) => escapes[found] ?? doubled(found));
    // Else the dollar sign would take the meaning from the reference behind it.
    return parts[index + 1] !== undefined && text.endsWith("$") ? `${text.slice(0, -1)}\\u0024` : text;
  });
  const text = texts.join("");
  if (hasMarks(text)) writable.refuse(path, "characters of U+E000 to U+E003 cannot be converted");
  return `"${text}"`;
}

const special = /["\\]|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\p{Surrogate}|[$%]\{/gu;
const escapes: Record<string, string> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function doubled(found: string): string {
  if (found.length === 2) return `${found[0]}${found}`;
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Lines that end in a newline, as lines; undefined for any other text. */
function heredoc(parts: readonly KeptPart[], depth: number): string | undefined {
  const whole = parts.map((part) => (part.type === "reference" ? "$" : part.text)).join("");
  const lines = whole.split("\n");
  if (lines.length < 3 || lines.at(-1) !== "" || /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]/.test(whole))
    return undefined;
  if (!whole.isWellFormed()) return undefined;
  // What has no escape there: a dollar sign before a reference.
  const beforeReference = parts.some((part, index) => {
    return part.type === "characters" && part.text.endsWith("$") && parts[index + 1] !== undefined;
  });
  if (beforeReference) return undefined;
  const text = parts.map((part) =>
    part.type === "reference" ? `\${${part.inner}}` : part.text.replaceAll(/[$%]\{/g, doubled),
  );
  const rows = text.join("").split("\n");
  const word = freeWord(rows);
  const filled = rows.filter((row) => row !== "");
  // Indentation can be taken off again where one line has none of its own.
  if (!filled.some((row) => /^\S/.test(row)) || filled.some((row) => row.trim() === "")) {
    return `<<${word}\n${rows.join("\n")}${word}`;
  }
  const margin = "  ".repeat(depth + 1);
  const indented = rows.map((row) => (row === "" ? "" : margin + row)).join("\n");
  return `<<-${word}\n${indented}${"  ".repeat(depth)}${word}`;
}

function freeWord(lines: readonly string[]): string {
  for (let count = 1; ; count += 1) {
    const word = count === 1 ? "EOT" : `EOT${count}`;
    if (!lines.some((line) => line.trim() === word)) return word;
  }
}
