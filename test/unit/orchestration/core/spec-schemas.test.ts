import { describe, expect, test } from "bun:test";
import { Kind, type TSchema } from "@sinclair/typebox";
import { specSchemas } from "../../../../src/orchestration/api/kinds/schemas.ts";
import { coreKinds } from "../../../../src/orchestration/api/manifest.ts";

/** Every schema inside a schema, with its path. */
function parts(schema: TSchema, path: string): { schema: TSchema; path: string }[] {
  const fields = Object.entries<TSchema>(schema.properties ?? {});
  const patterns = Object.entries<TSchema>(schema.patternProperties ?? {});
  const variants: TSchema[] = schema.anyOf ?? [];
  return [
    { schema, path },
    ...fields.flatMap(([name, field]) => parts(field, `${path}.${name}`)),
    ...patterns.flatMap(([, value]) => parts(value, `${path}.*`)),
    ...variants.flatMap((variant, index) => parts(variant, `${path}|${index}`)),
    ...(schema.items === undefined ? [] : parts(schema.items, `${path}[]`)),
  ];
}

test("there is a schema for every kind that may be written", () => {
  expect(Object.keys(specSchemas).toSorted()).toEqual([...coreKinds, "app"].toSorted());
});

describe.each(Object.entries(specSchemas))("%s", (kind, schema) => {
  const all = parts(schema, kind);

  test("no object takes fields that it does not name", () => {
    const open = all.filter(({ schema: part }) => part.type === "object" && part.additionalProperties !== false);
    expect(open.map(({ path }) => path)).toEqual([]);
  });

  test("every list has an upper bound", () => {
    const open = all.filter(({ schema: part }) => part[Kind] === "Array" && part.maxItems === undefined);
    expect(open.map(({ path }) => path)).toEqual([]);
  });

  test("every field of the spec is described", () => {
    const silent = Object.entries<TSchema>(schema.properties).filter(([, field]) => !field.description);
    expect(silent.map(([name]) => name)).toEqual([]);
  });
});
