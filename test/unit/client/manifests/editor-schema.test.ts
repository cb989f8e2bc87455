// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { join } from "node:path";
import Ajv from "ajv";
import { Glob } from "bun";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { editorSchema } from "../../../../src/client/manifests/editor-schema.ts";
import { kindWords, parseKind } from "../../../../src/orchestration/core/kind.ts";
import { kindAndSpec } from "../../../property/core-specs.ts";

const checkout = join(import.meta.dir, "../../../..");
const every = new Ajv({ allErrors: true, strictTypes: false }).compile(editorSchema());

function faults(manifest: unknown): string[] {
  every(manifest);
  return (every.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

const app = (spec: object) => ({ kind: "app", scope: "s", name: "a", spec });

describe("editorSchema", () => {
  test("takes every spec that the server takes, by itself and in a list", () => {
    const cases = Number(process.env.BERTH_TEST_CASES ?? 150);
    fc.assert(
      fc.property(kindAndSpec, ({ kind, spec }) => {
        const manifest = { kind, scope: "s", name: "a", spec: JSON.parse(JSON.stringify(spec)) };
        expect(faults(manifest)).toEqual([]);
        expect(faults([manifest, manifest])).toEqual([]);
      }),
      { numRuns: cases },
    );
  });

  test.each([...new Glob("examples/**/*.yaml").scanSync(checkout)])("takes %s", async (path) => {
    const documents = parseAllDocuments(await Bun.file(join(checkout, path)).text(), { logLevel: "silent" });
    for (const document of documents as { toJS(): unknown }[]) expect(faults(document.toJS())).toEqual([]);
  });

  test("variables stand for numbers, truth and words; env_file may be one path; !url takes a map", () => {
    const spec = {
      image: "x",
      replicas: "${N:-2}",
      rollout: { strategy: "${S}", auto_rollback: "${R}" },
      env_file: "a",
    };
    expect(faults(app(spec))).toEqual([]);
    expect(faults(app({ image: "x", env_file: ["a", "b"] }))).toEqual([]);
    expect(faults({ kind: "asset", name: "a", spec: { files: { a: { url: "https://x", timeout: "1s" } } } })).toEqual(
      [],
    );
    expect(faults({ kind: "postgres", scope: "s", name: "db", spec: { anything: 1 } })).toEqual([]);
  });

  test.each([
    [app({ image: "x", replica: 1 }), "/spec: must NOT have additional properties"],
    [app({ image: "x", replicas: "two" }), '/spec/replicas: must match pattern "\\$\\{"'],
    [app({ ports: [80] }), "/spec/ports/0: must be string"],
    [app({ pull: "never" }), "/spec/pull/anyOf/0/enum"],
    [{ kind: "app", name: "a", spec: {} }, ": must have required property 'scope'"],
    [{ kind: "cronjob", scope: "s", name: "a" }, ": must have required property 'spec'"],
    [{ kind: "app", scope: "s", name: "a", sepc: {} }, ": must NOT have additional properties"],
  ])("%j is a fault", (manifest, fault) => {
    const found = faults(manifest);
    if (fault.endsWith("enum")) expect(found.length).toBeGreaterThan(0);
    else expect(found).toContain(fault);
  });

  test.each(kindWords())("the schema of %s alone is a schema, and takes only that kind", (word) => {
    const check = new Ajv({ strictTypes: false }).compile(editorSchema(parseKind(word)));
    expect(check({ kind: "other", scope: "s", name: "a", spec: {} })).toBe(false);
  });
});
