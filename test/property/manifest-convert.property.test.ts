// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import fc from "fast-check";
import { convertFiles, type Target } from "../../src/client/manifests/convert/convert.ts";
import { readDocuments } from "../../src/client/manifests/document.ts";
import type { ManifestFile } from "../../src/client/manifests/entry.ts";
import { type Fault, type Format, ManifestError } from "../../src/client/manifests/source.ts";
import { specs } from "./core-specs.ts";
import { anyValue, changedHcl } from "./hcl-texts.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 50);
const limits = { manifestDepthMax: 64, manifestNodesMax: 100_000, faultsShownMax: 20 };
const setup = { readAsset: () => new Uint8Array(), depthMax: 64, nodesMax: 100_000, variables: { V: "a $b" } };

const fileOf = (text: string, format: Format): ManifestFile => ({ name: `x.${format}`, text, directory: "/", format });

function read(text: string, format: Format): Record<string, unknown>[] {
  const faults: Fault[] = [];
  const entries = readDocuments(fileOf(text, format), setup, faults);
  expect(faults.map(({ message }) => message)).toEqual([]);
  return entries.map(({ manifest }) => manifest);
}

const convert = (text: string, format: Format, to: Target) => convertFiles([fileOf(text, format)], to, limits);

const name = fc.stringMatching(/^[a-z]{1,6}$/);
const known = fc.constantFrom(...(Object.keys(specs) as (keyof typeof specs)[])).chain((kind) => {
  const scope = kind === "registry" ? {} : { scope: name };
  return fc.record({ kind: fc.constant<string>(kind), ...scope, name, spec: specs[kind] });
});
const block = fc.record({
  kind: fc.constantFrom("postgres", "mail"),
  scope: name,
  name,
  spec: fc.dictionary(name, anyValue, { maxKeys: 4, noNullPrototype: true }),
});
const manifests = fc.array(fc.oneof(known, block), { minLength: 1, maxLength: 3 });

/** In JSON, with dollar signs as manifests write them, and some texts with a reference. */
function asJson(all: readonly { spec: unknown }[], references: boolean): string {
  const written = (_: string, value: unknown) => {
    if (typeof value !== "string") return value;
    const text = value.replaceAll("$", "$$$$");
    return references && text.length % 3 === 2 ? `${text}\${V:-it's "x"}${text}` : text;
  };
  return JSON.stringify(all.map((one) => ({ ...one, spec: JSON.parse(JSON.stringify(one.spec, written)) })));
}

test("what is converted, to HCL and on to YAML, is read as it was", () => {
  fc.assert(
    fc.property(manifests, fc.boolean(), (all, references) => {
      const json = asJson(all, references);
      const wanted = read(json, "json");
      if (!references) expect(wanted).toEqual(JSON.parse(JSON.stringify(all)));
      const hcl = convert(json, "json", "hcl");
      const yaml = convert(hcl, "hcl", "yaml");
      expect(read(hcl, "hcl")).toEqual(wanted);
      expect(read(yaml, "yaml")).toEqual(wanted);
      expect(read(convert(yaml, "yaml", "hcl"), "hcl")).toEqual(wanted);
    }),
    { numRuns: cases },
  );
});

test("a text in HCL is converted with its comments, or refused with a place", () => {
  let converted = 0;
  fc.assert(
    fc.property(changedHcl, fc.constantFrom<Target>("yaml", "hcl"), (text, to) => {
      const result = attempt(() => convert(text, "hcl", to));
      if (result === undefined) return;
      converted += 1;
      for (const [, comment] of text.matchAll(/^# (c|own words)$/gm)) expect(result).toContain(`# ${comment}`);
    }),
    { numRuns: cases },
  );
  expect(converted).toBeGreaterThan(cases / 10);
});

/** Undefined where it is refused with places; any other error is one of ours. */
function attempt(work: () => string): string | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ManifestError) return undefined;
    throw error;
  }
}
