import type { SchemaNode } from "../../../orchestration/core/schema-fields.ts";
import type { Fault, Span } from "../source.ts";
import { assetFile, assetUrl } from "../tags.ts";
import type { Place } from "../entry.ts";
import { booleanOf, branchOf, evaluate, type EvaluateSetup, numberOf, type Scalar } from "./evaluate.ts";
import { keptFile } from "../kept.ts";
import { isAssetFile, isEnvironment } from "../paths.ts";
import type { Expression } from "./syntax.ts";

/** One manifest whose values are being read. */
export interface Reading extends EvaluateSetup {
  places: Map<string, Place>;
  /** Content of a file that the source names; throws an Error with a text for the operator. */
  readAsset: (path: string) => Uint8Array;
  nodesMax: number;
  nodes: number;
}

/** Where a value goes, and what the schema of the kind says of it; without a schema it stays as it is written. */
interface Target {
  path: string;
  key: Span;
  schema: SchemaNode | undefined;
}

/** The plain value of an expression, with the place of each part in `reading.places`. */
export function readValue(reading: Reading, expression: Expression, target: Target): unknown {
  const { path, schema } = target;
  reading.places.set(path, { value: expression.span, key: target.key });
  reading.nodes += 1;
  if (reading.nodes > reading.nodesMax) return tooMany(reading, expression);
  switch (expression.type) {
    case "list":
      return expression.items.map((item, index) => {
        return readValue(reading, item, { path: `${path}[${index}]`, key: item.span, schema: schema?.items });
      });
    case "object":
      return readObject(reading, expression, target);
    case "condition": {
      const branch = branchOf(expression, reading);
      return branch === undefined ? undefined : readValue(reading, branch, target);
    }
    case "call":
      return isAssetFile(path) ? readFile(reading, expression, target) : evaluate(expression, reading);
    default: {
      const value = evaluate(expression, reading);
      return value === undefined ? undefined : converted(reading, { value, expression, target });
    }
  }
}

function readObject(
  reading: Reading,
  { items }: Expression & { type: "object" },
  { path, schema }: Target,
): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const { key, value } of items) {
    const name = evaluate(key, reading);
    if (name === undefined) continue;
    const text = String(name);
    if (name === null) reading.faults.push({ span: key.span, message: "a key must be text" });
    else if (entries.has(text)) reading.faults.push({ span: key.span, message: "this key is in the object twice" });
    else
      entries.set(
        text,
        readValue(reading, value, { path: `${path}.${text}`, key: key.span, schema: fieldOf(schema, text) }),
      );
  }
  return Object.fromEntries(entries);
}

/** The schema of a field: named, or of the values of a map. */
export function fieldOf(schema: SchemaNode | undefined, name: string): SchemaNode | undefined {
  return schema?.properties?.[name] ?? Object.values(schema?.patternProperties ?? {})[0];
}

/** The language converts between texts, numbers and truth where the field wants another type. */
function converted(
  reading: Reading,
  { value, expression, target: { path, schema } }: { value: Scalar; expression: Expression; target: Target },
): unknown {
  const wantsText = schema?.type === "string" || isEnvironment(path);
  if (wantsText && typeof value === "number") return numberText(reading, value, expression);
  if (wantsText && typeof value === "boolean") return String(value);
  if (value === null && isEnvironment(path)) return schema === undefined ? "" : value;
  if (schema?.type === "integer" || schema?.type === "number") return numberOf(value) ?? value;
  if (schema?.type === "boolean") return booleanOf(value) ?? value;
  return value;
}

function numberText({ faults }: Reading, value: number, expression: Expression): string {
  const text = String(value);
  if (expression.type === "number" && expression.written !== text) {
    const message = `reads as the number ${text}, not as "${expression.written}": put it in quotes to keep the text`;
    faults.push({ span: expression.span, message });
  }
  return text;
}

function readFile(reading: Reading, expression: Expression & { type: "call" }, target: Target): unknown {
  const { name, span } = expression;
  if (name !== "file" && name !== "url") return evaluate(expression, reading);
  const [first, options, ...more] = expression.arguments.map((argument) => {
    return readValue(reading, argument, { ...target, path: `${target.path}.()`, schema: undefined });
  });
  reading.places.delete(`${target.path}.()`);
  if (typeof first !== "string" || first === "" || more.length > 0) {
    return fail(reading, span, name === "file" ? 'file() needs a path: file("app.conf")' : urlNeeds);
  }
  if (name === "url") return assetUrl({ ...(typeof options === "object" ? options : {}), url: first });
  if (options !== undefined) return fail(reading, span, 'file() needs one path: file("app.conf")');
  try {
    return reading.variables === "kept" ? keptFile(first) : assetFile(first, reading.readAsset(first));
  } catch (error) {
    return fail(reading, span, error instanceof Error ? error.message : String(error));
  }
}

const urlNeeds = 'url() needs an address: url("https://…") or url("https://…", { timeout = "10s" })';

/** Told once, however many are left. */
function tooMany(reading: Reading, { span }: Expression): undefined {
  if (reading.nodes > reading.nodesMax + 1) return undefined;
  return fail(reading, span, "too many values in one file");
}

export function fail({ faults }: { faults: Fault[] }, span: Span, message: string): undefined {
  faults.push({ span, message });
  return undefined;
}

/** A field that no block can be. */
export function isSwitch({ type }: SchemaNode): boolean {
  return type === "boolean";
}
