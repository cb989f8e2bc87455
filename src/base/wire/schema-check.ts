import { Kind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import type { Problem } from "./failure.ts";
import { pointerKeys, pointerPath } from "./pointer.ts";
import { repair, type Repaired } from "./schema-repair.ts";
import { didYouMeanField } from "../pure/field-words.ts";
import { didYouMean } from "../pure/suggest.ts";

/** Where a wrong value may be a secret, the text shows its type only. */
const secretPath =
  /(^|\.)(env|headers|http_headers|token|password|password_hash|client_secret|basic_auth|hmac_key|args|build_args)(\.|\[|$)/;
const shownTextMax = 60;

export interface SchemaCheck<T extends TObject> {
  matches(value: unknown): value is Static<T>;
  /** Faults of a value that does not match, at most `max`; `path` is that of the value. */
  problems(value: unknown, path: string, max: number): Problem[];
  /** A value that does not match, with samples in place of its faults: see `repair`. */
  repaired(value: unknown, path: string): Repaired<Static<T>> | undefined;
}

/** A schema compiled at first use: checking takes microseconds, explaining is left for values that fail. */
export function schemaCheck<T extends TObject>(schema: T): SchemaCheck<T> {
  let compiled: TypeCheck<T> | undefined;
  const check = () => {
    compiled ??= TypeCompiler.Compile(schema);
    return compiled;
  };
  return {
    matches: (value): value is Static<T> => check().Check(value),
    problems: (value, path, max) => explain(check().Errors(value), { value, path, max }),
    repaired: (value, path) => {
      const matches = (one: unknown): one is Static<T> => check().Check(one);
      return repair({ errors: (one) => check().Errors(one), matches }, value, path);
    },
  };
}

function explain(errors: Iterable<ValueError>, at: { value: unknown; path: string; max: number }): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    const path = pointerPath(error.path, at);
    // A missing field is reported twice: as missing and as of the wrong type.
    if (!problems.has(path)) for (const problem of explainOne(error, path, at.max)) problems.set(problem.path, problem);
    if (problems.size >= at.max) break;
  }
  return [...problems.values()].slice(0, at.max);
}

function explainOne(error: ValueError, path: string, max: number): Problem[] {
  const variant = error.type === ValueErrorType.Union ? meantVariant(error.schema, error.value) : undefined;
  if (variant !== undefined) return explain(Value.Errors(variant, error.value), { value: error.value, path, max });
  const isUnknown = error.type === ValueErrorType.ObjectAdditionalProperties && error.value !== undefined;
  return [{ path, message: messageOf(error, path), ...(isUnknown ? { reason: "UnknownField" as const } : {}) }];
}

function messageOf(error: ValueError, path: string): string {
  const { schema, value } = error;
  if (value === undefined)
    return schema.description === undefined ? "is required" : `is required (${schema.description})`;
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return unknownField(error);
    case ValueErrorType.ArrayMaxItems:
      return `has more than ${schema.maxItems} entries`;
    case ValueErrorType.ArrayMinItems:
      return `needs at least ${schema.minItems === 1 ? "one entry" : `${schema.minItems} entries`}`;
    case ValueErrorType.ObjectMaxProperties:
      return `has more than ${schema.maxProperties} entries`;
    case ValueErrorType.StringMaxLength:
      return `is longer than ${schema.maxLength} characters`;
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1 ? "is empty" : `is shorter than ${schema.minLength} characters`;
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}, got ${value}`;
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}, got ${value}`;
    default:
      return `expected ${wanted(schema)}, got ${given(value, secretPath.test(path))}${hintFor(schema, value, secretPath.test(path))}`;
  }
}

function unknownField({ schema, path }: ValueError): string {
  const field = pointerKeys(path).at(-1) ?? "";
  const known = Object.keys(schema.properties ?? {});
  if (known.length === 0) return "is not a usable key";
  const hint = didYouMeanField(field, known);
  return hint === "" && known.length <= 10 ? `unknown field; known are ${known.join(", ")}` : `unknown field${hint}`;
}

function wanted(schema: TSchema): string {
  if (schema[Kind] === "Union") return wantedOf(schema.anyOf);
  if (schema[Kind] === "Literal") return JSON.stringify(schema.const);
  if (schema[Kind] === "Record") return "object";
  const literal = Object.entries<TSchema>(schema.properties ?? {}).find(([, field]) => field.const !== undefined);
  if (literal !== undefined) return `object with ${literal[0]} ${JSON.stringify(literal[1].const)}`;
  return String(schema.type ?? schema[Kind]).toLowerCase();
}

function wantedOf(variants: TSchema[]): string {
  const words = [...new Set(variants.map(wanted))];
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : (words[0] ?? "nothing");
}

/** Says what was given; the value itself only where it can be no secret. */
function given(value: unknown, hidden: boolean): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
  if (type === "object" || type === "undefined" || hidden) return type;
  const text = JSON.stringify(value);
  return `${type} ${text.length > shownTextMax ? `${text.slice(0, shownTextMax)}…` : text}`;
}

function hintFor(schema: TSchema, value: unknown, hidden: boolean): string {
  const isScalar = typeof value === "number" || typeof value === "boolean";
  if (schema[Kind] === "String" && isScalar) return "; put it in quotes";
  const shape = shapeHint(schema, value, hidden);
  if (shape !== "" || typeof value !== "string") return shape;
  const words = (schema.anyOf ?? []).map((variant: TSchema) => String(variant.const ?? ""));
  return didYouMean(value, words);
}

/** How to write what was given in another form; the value itself only where it can be no secret. */
function shapeHint(schema: TSchema, value: unknown, hidden: boolean): string {
  const isText = typeof value === "string";
  const text = isText && !hidden && value.length <= shownTextMax ? value : undefined;
  switch (schema[Kind]) {
    case "Array": {
      if (!isText) return "";
      const words = text === undefined || schema.items?.type !== "string" ? [] : text.split(/\s+/).filter(Boolean);
      return `; write a list${words.length === 0 ? "" : `: ${JSON.stringify(words).replaceAll(",", ", ")}`}`;
    }
    case "Record":
    case "Object":
      return Array.isArray(value) || isText ? '; write a map, with a line "KEY: VALUE" for each entry' : "";
    case "Boolean":
      if (text !== undefined && /^(?:yes|on|true|y)$/i.test(text)) return "; write true without quotes";
      return text !== undefined && /^(?:no|off|false|n)$/i.test(text)
        ? "; write false without quotes"
        : "; write true or false";
    case "Integer":
    case "Number":
      return text !== undefined && /^-?\d+$/.test(text) ? `; write ${text} without quotes` : "";
    default:
      return "";
  }
}

/** The variant of a union whose faults say more than the union's: the one for numbers, or the object whose literal field has the given value. */
function meantVariant(union: TSchema, value: unknown): TSchema | undefined {
  const variants: TSchema[] = union.anyOf ?? [];
  if (typeof value === "number")
    return variants.find(({ type, minimum, maximum }) => type === "number" && minimum !== maximum);
  if (typeof value !== "object" || value === null) return undefined;
  return variants.find((variant) => {
    const fields = Object.entries<TSchema>(variant.properties ?? {});
    return fields.some(([field, { const: wantedText }]) => {
      return wantedText !== undefined && Object.entries(value).some(([k, v]) => k === field && v === wantedText);
    });
  });
}
