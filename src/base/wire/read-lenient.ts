import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/**
 * What of a stored value fits a schema: fields and entries that another version has written differently are left out.
 * Undefined when the value is not an object, or a required field does not fit. Defaults are not filled in.
 */
export function readLenient<T extends TObject>(schema: T, value: unknown): Static<T> | undefined {
  const read = readPart(schema, value);
  return Value.Check(schema, read) ? read : undefined;
}

function readPart(schema: TSchema, value: unknown): unknown {
  if (schema.type === "array") return readList(schema, value);
  if (schema.type !== "object") return Value.Check(schema, value) ? value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    const part = partOf(schema, name);
    const read = part === undefined ? undefined : readPart(part, field);
    return read === undefined ? [] : [[name, read]];
  });
  const read = Object.fromEntries(fields);
  const required: readonly string[] = schema.required ?? [];
  return required.every((name) => Object.hasOwn(read, name)) ? read : undefined;
}

function readList(schema: TSchema, value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((item) => {
    const read = readPart(schema.items, item);
    return read === undefined ? [] : [read];
  });
}

/** The schema of a field; of a map all fields have the same one. */
function partOf(schema: TSchema, name: string): TSchema | undefined {
  const properties: Record<string, TSchema> = schema.properties ?? {};
  const patterns: Record<string, TSchema> = schema.patternProperties ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : Object.values(patterns)[0];
}
