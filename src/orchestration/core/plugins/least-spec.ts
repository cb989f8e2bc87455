import { isFields } from "../../../base/pure/fields.ts";
import type { Spec } from "../../api/manifest.ts";

const depthMax = 8;

/**
 * The smallest spec that the published JSON schema of a block asks for: each required field with the default, the
 * constant, the first of its values or the first example that the schema names. Undefined where it names none of them.
 */
export function leastSpec(schema: unknown): Spec | undefined {
  const value = leastObject(schema, 0);
  return isFields(value) ? value : undefined;
}

function least(schema: unknown, depth: number): unknown {
  if (!isFields(schema) || depth > depthMax) return undefined;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  const [first] = [...listed(schema.enum), ...listed(schema.examples)];
  if (first !== undefined) return first;
  return schema.type === "object" || schema.properties !== undefined ? leastObject(schema, depth) : undefined;
}

function leastObject(schema: unknown, depth: number): Record<string, unknown> | undefined {
  if (!isFields(schema)) return undefined;
  const properties = isFields(schema.properties) ? schema.properties : {};
  const entries: [string, unknown][] = [];
  for (const name of listed(schema.required)) {
    if (typeof name !== "string" || !Object.hasOwn(properties, name)) return undefined;
    const value = least(properties[name], depth + 1);
    if (value === undefined) return undefined;
    entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
