import { expect, test } from "bun:test";
import fc from "fast-check";
import { specSchemas } from "../../src/orchestration/api/kinds/schemas.ts";
import { type CoreKind, coreKinds, type Spec } from "../../src/orchestration/api/manifest.ts";
import { isFields } from "../../src/base/pure/fields.ts";
import { canonicalJson } from "../../src/base/pure/digest.ts";
import { schemaFields, type SchemaNode } from "../../src/orchestration/core/schema-fields.ts";
import { decodeSpec } from "../../src/orchestration/core/spec/decode.ts";
import { specs } from "./core-specs.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 300);

/** The paths of all fields of a kind, as lists of keys; fields inside of lists are not among them. */
const pathsOf = (kind: CoreKind) =>
  schemaFields(specSchemas[kind] as SchemaNode)
    .map(({ path }) => path.split("."))
    .filter((path) => !path.some((key) => key.endsWith("[]")));

const kindSpecPath = fc
  .constantFrom(...coreKinds)
  .chain((kind) => fc.record({ kind: fc.constant(kind), spec: specs[kind], path: fc.constantFrom(...pathsOf(kind)) }));

/** The same spec with another value at the path, or without the field. */
function withField(spec: Spec, [key = "", ...rest]: readonly string[], value: unknown): Spec {
  const { [key]: before, ...others } = spec;
  const after = rest.length === 0 ? value : withField(isFields(before) ? before : {}, rest, value);
  return after === undefined ? others : { ...others, [key]: after };
}

test("a field of a type that it never has counts as absent", () => {
  fc.assert(
    fc.property(kindSpecPath, ({ kind, spec, path }) => {
      // No field is a symbol, and JSON leaves symbols out.
      const odd = Symbol("odd");
      const written = decodeSpec(kind, withField(spec, path, odd));
      expect(plain(written)).toBe(plain(decodeSpec(kind, withField(spec, path, undefined))));
    }),
    { numRuns: cases },
  );
});

test("no JSON makes decoding throw, however deep it stands", () => {
  fc.assert(
    fc.property(kindSpecPath, fc.jsonValue({ maxDepth: 3 }), ({ kind, spec, path }, value) => {
      expect(() => decodeSpec(kind, withField(spec, path, value))).not.toThrow();
    }),
    { numRuns: cases },
  );
});

const plain = (value: unknown) => canonicalJson(JSON.parse(JSON.stringify(value)));
