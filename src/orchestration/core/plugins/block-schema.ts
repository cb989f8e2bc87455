import { type TSchema, Type } from "@sinclair/typebox";
import type { Problem } from "../../../base/wire/failure.ts";
import { childPath } from "../../../base/pure/path.ts";
import { schemaCheck } from "../../../base/wire/schema-check.ts";
import type { Fields } from "./fields.ts";
import { isFields, own } from "../../../base/pure/fields.ts";

/**
 * The JSON Schema that a plugin publishes for the spec of its block, as a schema of ours: one checker and one
 * explanation for core kinds and blocks. Read are type, properties, required, additionalProperties, items, enum, const,
 * anyOf and oneOf, `$ref` to `#/$defs/…`, the bounds of numbers, texts and lists, pattern, description and default;
 * what else stands there is passed over, and told in `unread`.
 */
interface BlockSchema {
  schema: ReturnType<typeof Type.Object>;
  /** Keywords that have no effect, by path. */
  unread: string[];
  problems: Problem[];
}

const depthMax = 32;
/** Schemas in one file, references counted each time: what names itself twice would grow without end. */
const nodesMax = 5_000;

const carried = ["description", "default", "title", "examples"];
const bounds: Record<string, readonly string[]> = {
  string: ["minLength", "maxLength", "pattern"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  array: ["minItems", "maxItems", "uniqueItems"],
};
const structure = [
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "oneOf",
];
const silent = ["$schema", "$id", "$ref", "$defs", "definitions", "$comment", "format", "deprecated"];

const tooDeep = `nested deeper than ${depthMax} levels, or in a circle`;

interface Reading {
  root: Fields;
  nodes: number;
  unread: string[];
  problems: Problem[];
}

/** Reads a parsed schema file. Anything can be in it: faults are problems. */
export function readBlockSchema(value: unknown): BlockSchema {
  const none = Type.Object({});
  if (!isFields(value)) return { schema: none, unread: [], problems: [{ path: "", message: "expected an object" }] };
  const reading: Reading = { root: value, nodes: 0, unread: [], problems: [] };
  const schema = convert(value, "", { reading, depth: 0 });
  if (schema.type !== "object") reading.problems.push({ path: "type", message: 'must be "object": a spec is one' });
  const { unread, problems } = reading;
  return { schema: schema.type === "object" ? (schema as BlockSchema["schema"]) : none, unread, problems };
}

/** Faults of the spec of a block, at most `max`. What is the server's own in it is not looked at, unless it is declared. */
export type BlockCheck = (spec: Fields, max: number) => Problem[];

/** Fields of every block: where its plugin comes from, and what is copied onto the pods that it becomes. */
const serverFields = ["plugin", "on_probe"];

/** Compiled at first use. */
export function blockCheck({ schema }: Pick<BlockSchema, "schema">): BlockCheck {
  const check = schemaCheck(schema);
  const isOwn = ([field]: [string, unknown]) =>
    !serverFields.includes(field) || Object.hasOwn(schema.properties, field);
  return (spec, max) => {
    const own = Object.fromEntries(Object.entries(spec).filter(isOwn));
    return check.matches(own) ? [] : check.problems(own, "spec", max);
  };
}

interface At {
  reading: Reading;
  depth: number;
}

function convert(value: unknown, path: string, { reading, depth }: At): TSchema {
  if (value === true) return Type.Unknown();
  const { problems } = reading;
  if (!isFields(value)) return fault(problems, path, "expected an object");
  reading.nodes += 1;
  if (depth > depthMax || reading.nodes > nodesMax) {
    // Told once: in a circle there is no end to it.
    reading.nodes = Number.POSITIVE_INFINITY;
    const told = problems.some(({ message }) => message === tooDeep);
    return told ? Type.Unknown() : fault(problems, path, tooDeep);
  }
  const inner = { reading, depth: depth + 1 };
  if (typeof value.$ref === "string") return reference(value.$ref, path, inner);
  const type = typeof value.type === "string" ? value.type : guessType(value);
  noteUnread(value, path, { type, reading });
  const options = pick(value, [...carried, ...(bounds[type] ?? [])]);
  if (typeof options.pattern === "string" && !isPattern(options.pattern)) {
    return fault(problems, childPath(path, "pattern"), "is not a regular expression");
  }
  const fixed = Array.isArray(value.enum) ? value.enum : value.const === undefined ? undefined : [value.const];
  if (fixed !== undefined) return literals(fixed, options, { path, problems });
  const variants = value.anyOf ?? value.oneOf;
  if (Array.isArray(variants)) {
    return union(
      variants.map((item, index) => convert(item, childPath(childPath(path, "anyOf"), index), inner)),
      options,
    );
  }
  if (Array.isArray(value.type)) {
    return union(
      value.type.map((one) => convert({ ...value, type: one }, path, inner)),
      options,
    );
  }
  return typed(value, { type, options, path, inner });
}

function typed(
  value: Fields,
  { type, options, path, inner }: { type: string; options: Fields; path: string; inner: At },
): TSchema {
  switch (type) {
    case "object":
      return object(value, options, { path, inner });
    case "array":
      return Type.Array(
        value.items === undefined ? Type.Unknown() : convert(value.items, childPath(path, "items"), inner),
        options,
      );
    case "string":
      return Type.String(options);
    case "integer":
      return Type.Integer(options);
    case "number":
      return Type.Number(options);
    case "boolean":
      return Type.Boolean(options);
    case "null":
      return Type.Null(options);
    case "":
      return Type.Unknown(options);
    default:
      return fault(inner.reading.problems, childPath(path, "type"), `unknown type "${type}"`);
  }
}

function object(value: Fields, options: Fields, { path, inner }: { path: string; inner: At }): TSchema {
  const properties = isFields(value.properties) ? value.properties : {};
  const required = Array.isArray(value.required) ? value.required : [];
  const extra = value.additionalProperties;
  if (isFields(extra) && Object.keys(properties).length === 0) {
    return Type.Record(Type.String(), convert(extra, childPath(path, "additionalProperties"), inner), options);
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const schema = convert(field, childPath(childPath(path, "properties"), name), inner);
    return [name, required.includes(name) ? schema : Type.Optional(schema)] as const;
  });
  return Type.Object(Object.fromEntries(fields), { ...options, additionalProperties: extra !== false });
}

/** One of some fixed values. */
function literals(
  values: unknown[],
  options: Fields,
  { path, problems }: { path: string; problems: Problem[] },
): TSchema {
  const known = values.map((item) => {
    if (item === null) return Type.Null();
    const isPlain = typeof item === "string" || typeof item === "number" || typeof item === "boolean";
    return isPlain
      ? Type.Literal(item)
      : fault(problems, path, "only texts, numbers, true, false and null can be listed");
  });
  if (values.length === 0) return fault(problems, path, "lists nothing");
  const [only] = known;
  return known.length === 1 && only !== undefined ? { ...only, ...options } : union(known, options);
}

function reference(ref: string, path: string, at: At): TSchema {
  const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const groups = at.reading.root[group];
  const target = isFields(groups) ? own(groups, name) : undefined;
  if (target === undefined) {
    return fault(
      at.reading.problems,
      childPath(path, "$ref"),
      `"${ref}" is not in the file; only #/$defs/… can be named`,
    );
  }
  return convert(target, `#/${group}/${name}`, at);
}

function guessType(value: Fields): string {
  if (value.properties !== undefined || value.additionalProperties !== undefined) return "object";
  return value.items === undefined ? "" : "array";
}

function noteUnread(value: Fields, path: string, { type, reading }: { type: string; reading: Reading }): void {
  const known = [...carried, ...structure, ...silent, ...(bounds[type] ?? [])];
  for (const key of Object.keys(value)) if (!known.includes(key)) reading.unread.push(childPath(path, key));
}

function union(schemas: TSchema[], options: Fields): TSchema {
  return Type.Union(schemas, options);
}

function pick(value: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]));
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function fault(problems: Problem[], path: string, message: string): TSchema {
  problems.push({ path, message });
  return Type.Unknown();
}
