import { describe, expect, test } from "bun:test";
import { blockCheck, readBlockSchema } from "../../../../../src/orchestration/core/plugins/block-schema.ts";

const database = {
  type: "object",
  properties: {
    image: { type: "string", minLength: 1 },
    replicas: { type: "integer", minimum: 1, maximum: 9 },
    mode: { enum: ["single", "cluster"] },
    size: { anyOf: [{ type: "string" }, { type: "number" }] },
    tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, maxItems: 2 },
    options: { type: "object", additionalProperties: { type: "string" } },
    user: { $ref: "#/$defs/user" },
    maybe: { type: ["string", "null"] },
  },
  required: ["image"],
  additionalProperties: false,
  $defs: { user: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};

function faults(schema: unknown, spec: Record<string, unknown>): string[] {
  const read = readBlockSchema(schema);
  expect(read.problems).toEqual([]);
  return blockCheck(read)(spec, 10).map(({ path, message }) => `${path}: ${message}`);
}

describe("a block that is right", () => {
  test.each([
    { image: "x" },
    { image: "x", replicas: 9, mode: "cluster", size: 5, tags: ["a"], options: { any: "x" }, user: { name: "n" } },
    { image: "x", size: "5", maybe: null, user: { name: "n", more: 1 } },
    { image: "x", plugin: { version: "1" }, on_probe: {} },
  ])("%p", (spec) => {
    expect(faults(database, spec)).toEqual([]);
  });
});

describe("a block that is not", () => {
  test.each([
    [{}, "spec.image: is required"],
    [{ image: 7 }, "spec.image: expected string, got integer 7; put it in quotes"],
    [{ image: "x", replicas: 0 }, "spec.replicas: must be at least 1, got 0"],
    [{ image: "x", replicas: 2.5 }, "spec.replicas: expected integer, got number 2.5"],
    [{ image: "x", mode: "clustr" }, 'did you mean "cluster"'],
    [{ image: "x", replicsa: 2 }, 'spec.replicsa: unknown field; did you mean "replicas"'],
    [{ image: "x", tags: ["a", "b", "c"] }, "spec.tags: has more than 2 entries"],
    [{ image: "x", tags: ["A"] }, "spec.tags[0]"],
    [{ image: "x", options: { a: 1 } }, "spec.options.a: expected string"],
    [{ image: "x", user: {} }, "spec.user.name: is required"],
    [{ image: "x", maybe: 1 }, "spec.maybe"],
  ])("%p tells its fault", (spec, text) => {
    expect(faults(database, spec).join("\n")).toContain(text);
  });

  test("what the schema declares of the server's fields is checked", () => {
    const schema = { type: "object", properties: { on_probe: { type: "string" } } };
    expect(faults(schema, { on_probe: 7 }).join()).toContain("spec.on_probe");
  });
});

describe("a schema", () => {
  test("that has no effect somewhere says where", () => {
    const { unread } = readBlockSchema({ type: "object", if: {}, properties: { a: { type: "string", minimum: 2 } } });
    expect(unread).toEqual(["if", "properties.a.minimum"]);
  });

  test.each([
    ["text", "expected an object"],
    [{ type: "string" }, 'type: must be "object"'],
    [{ type: "object", properties: { a: { type: "sting" } } }, 'unknown type "sting"'],
    [{ type: "object", properties: { a: { $ref: "other.json" } } }, "is not in the file"],
    [{ type: "object", properties: { a: { type: "string", pattern: "(" } } }, "is not a regular expression"],
    [{ type: "object", properties: { a: 7 } }, "properties.a: expected an object"],
  ])("that cannot be used is refused: %p", (schema, text) => {
    const { problems } = readBlockSchema(schema);
    expect(problems.map(({ path, message }) => `${path}: ${message}`).join("\n")).toContain(text);
  });

  test("that names itself comes to an end, told once", () => {
    const twice = { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] };
    const started = performance.now();
    const { problems } = readBlockSchema({
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: twice },
    });
    expect(problems.map(({ message }) => message)).toEqual(["nested deeper than 32 levels, or in a circle"]);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
