import { describe, expect, test } from "bun:test";
import { Kind, type TSchema } from "@sinclair/typebox";
import type { WritableKind } from "../../../../src/orchestration/api/kinds/schemas.ts";
import { specSchemas } from "../../../../src/orchestration/api/kinds/schemas.ts";
import { limits } from "../../../../src/config/config.ts";
import { decodeContainer } from "../../../../src/orchestration/core/spec/container.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";

/** A field of a kind, as a way into its spec: names of fields, 0 for the entry of a list, a key for that of a map. */
interface Field {
  kind: WritableKind;
  way: (string | number)[];
  schema: TSchema;
}

/** Maps whose keys are a closed set. */
const keys: Record<string, string> = { ulimits: "nofile", error_pages: "404" };

function fieldsOf(kind: WritableKind, schema: TSchema, way: Field["way"]): Field[] {
  const own: Field = { kind, way, schema };
  const name = String(way.at(-1));
  const variants: TSchema[] = schema.anyOf ?? [];
  return [
    own,
    ...Object.entries<TSchema>(schema.properties ?? {}).flatMap(([field, part]) =>
      fieldsOf(kind, part, [...way, field]),
    ),
    ...Object.values<TSchema>(schema.patternProperties ?? {}).flatMap((part) =>
      fieldsOf(kind, part, [...way, keys[name] ?? "key"]),
    ),
    ...variants.flatMap((variant) => fieldsOf(kind, variant, way)),
    ...(schema.items === undefined ? [] : fieldsOf(kind, schema.items, [...way, 0])),
  ];
}

/** The smallest value that a schema takes: what must be there beside the field that is tried. */
function least(schema: TSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf !== undefined) return least(schema.anyOf[0]);
  if (schema[Kind] === "Object") {
    const required: string[] = schema.required ?? [];
    return Object.fromEntries(required.map((name) => [name, least(schema.properties[name])]));
  }
  if (schema[Kind] === "Record") return {};
  if (schema[Kind] === "Array") return schema.minItems === undefined ? [] : [least(schema.items)];
  if (schema[Kind] === "Integer") return schema.minimum ?? 0;
  return "x";
}

/** A part of a schema that the rest of a way leads into. */
function steps(schema: TSchema, [step, ...rest]: Field["way"]): TSchema | undefined {
  const variants: TSchema[] = schema.anyOf ?? [schema];
  if (step === undefined) return schema;
  return variants.find((variant) => {
    const part = step === 0 ? variant.items : (variant.properties?.[step] ?? recordOf(variant));
    return part !== undefined && steps(part, rest) !== undefined;
  });
}

function recordOf(schema: TSchema): TSchema | undefined {
  return Object.values<TSchema>(schema.patternProperties ?? {})[0];
}

/** A value of `schema` in which the way leads to `value`. */
function withValue(schema: TSchema, way: Field["way"], value: unknown): unknown {
  const [step, ...rest] = way;
  if (step === undefined) return value;
  const part = steps(schema, way);
  if (part === undefined) throw new Error(`no way ${way.join(".")}`);
  if (step === 0) return [withValue(part.items, rest, value)];
  const within = part.properties?.[step] ?? recordOf(part);
  return { ...(least(part) as object), [step]: withValue(within, rest, value) };
}

function pathOf(way: Field["way"]): string {
  return way.reduce<string>((path, step) => (step === 0 ? `${path}[0]` : `${path}.${step}`), "spec");
}

/** What is said of the field, or of what it holds, when it has this value. */
function said({ kind, way }: Field, value: unknown): string[] {
  const path = pathOf(way);
  const spec = withValue(specSchemas[kind], way, value);
  return validateSpec(kind, spec, limits)
    .filter(
      (problem) => problem.path === path || problem.path.startsWith(`${path}.`) || problem.path.startsWith(`${path}[`),
    )
    .map(({ message }) => message);
}

const takes = (field: Field, value: unknown) => said(field, value).length === 0;

/** How a quantity is written, and what is above its bound. The first form that a field takes is the one of the field. */
const quantities = [
  { form: "5%", above: ["101%", "999999999%"] },
  { form: "on-failure:3", above: ["on-failure:1000000"] },
  { form: "1024:65536", above: ["1000000000000000", "1:1000000000000000"] },
  { form: "8080:80/udp", above: ["65536", "65536:80", "80:65536"] },
  { form: "SIGINT", above: ["65", "999"] },
  { form: "45s", above: ["24d20h31m24s", "999999999d", "2147483648ms"] },
  { form: "10k", above: ["107374182401", "101g", "9007199254740992"] },
  { form: "1Ti", above: ["1125899906842625", "1025Ti", "9007199254740992"] },
  { form: "64Ki", above: ["129Ki", "9007199254740992"] },
  { form: "1500m", above: ["10001", "10000001m", "999999999"] },
];

/** Texts of a fixed form whose digits are no number: a name, an address, an hour, a moment. */
const names = [
  "content",
  "cookie",
  "dns",
  "env_from",
  "extra_hosts",
  "helper",
  "hmac_key",
  "host",
  "hosts",
  "image",
  "name",
  "network",
  "networks",
  "path",
  "plugin",
  "remove",
  "service",
  "start_after",
  "target",
  "to",
  "from",
  "url",
  "volumes",
  "mount_path",
];

function isPlainText(field: Field): boolean {
  return takes(field, "no, this is = { no: quantity }");
}

const writable = Object.keys(specSchemas) as WritableKind[];

describe.each(writable)("%s", (kind) => {
  const fields = fieldsOf(kind, specSchemas[kind], []);
  const ofType = (type: string) =>
    fields.filter(({ schema }) => schema[Kind] === type).map((one) => [pathOf(one.way), one] as const);

  const numbers = [...ofType("Integer"), ...ofType("Number")];
  if (numbers.length > 0) {
    test.each(numbers)("the number %s has an upper bound", (_, field) => {
      const above = field.schema.maximum === undefined ? 1e12 : field.schema.maximum + 1;
      for (const value of [above, 1e12, Number.MAX_SAFE_INTEGER, 1e300]) expect(said(field, value)).not.toEqual([]);
    });
  }

  const lists = ofType("Array");
  if (lists.length > 0) {
    test.each(lists)("the list %s has an upper bound", (_, field) => {
      const { items, maxItems } = field.schema;
      expect(maxItems).toBeNumber();
      expect(
        said(
          field,
          Array.from({ length: maxItems + 1 }, () => least(items)),
        ),
      ).not.toEqual([]);
    });
  }

  const maps = ofType("Record");
  if (maps.length > 0) {
    test.each(maps)("the map %s has an upper bound", (_, field) => {
      const { maxProperties } = field.schema;
      expect(maxProperties).toBeNumber();
      const value = least(recordOf(field.schema) ?? ({} as TSchema));
      const many = Object.fromEntries(Array.from({ length: maxProperties + 1 }, (_, at) => [`k${at}`, value]));
      expect(said(field, many)[0]).toBe(`has more than ${maxProperties} entries`);
    });
  }

  const texts = ofType("String").filter(([, field]) => !isPlainText(field));
  if (texts.length > 0) {
    test.each(texts)("the quantity %s has an upper bound", (_, field) => {
      if (names.includes(String(field.way.findLast((step) => typeof step === "string")))) return;
      const quantity = quantities.find(({ form }) => takes(field, form));
      // A number in a form that is not in the table would be a hole in this law.
      if (quantity === undefined) expect(said(field, "7")).not.toEqual([]);
      for (const value of quantity?.above ?? [])
        expect({ value, said: said(field, value) }).not.toEqual({ value, said: [] });
    });
  }
});

test("the law finds the fields that it is about", () => {
  const found = fieldsOf("deployment", specSchemas.deployment, []).map(({ way }) => pathOf(way));
  for (const path of [
    "spec.logs.max_size",
    "spec.resources.limits.cpu",
    "spec.rollout.canary[0].pause",
    "spec.env.key",
  ])
    expect(found).toContain(path);
});

test.each(["--shm-size=1025Ti", "--memory-reservation=1025Ti", "--memory-swap=2000000g"])("%s is refused", (flag) => {
  const spec = { docker_options: ["--init", flag] };
  const [problem] = validateSpec("deployment", spec, limits);
  expect(problem?.path).toBe("spec.docker_options[1]");
  expect(problem?.message).toEndWith('is above the largest size, "1024Ti"');
});

test("what was stored above a bound is read as before", () => {
  const plain = { image: "web:1" };
  const stored = {
    ...plain,
    logs: { max_size: "5000g", max_files: 5_000 },
    resources: { limits: { memory: "2048Ti" } },
  };
  expect(validateSpec("deployment", stored, limits)).not.toEqual([]);
  const { log, limits: read } = decodeContainer(stored);
  expect(log).toEqual({ maxSize: "5000g", maxFiles: 5_000 });
  expect(read.memoryBytes).toBe(2048 * 1024 ** 4);
});
