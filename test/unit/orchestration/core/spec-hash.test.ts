import { expect, test } from "bun:test";
import { limits } from "../../../../src/config/config.ts";
import type { CoreKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import { specHash } from "../../../../src/orchestration/core/spec-hash.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";

/**
 * A spec and its hash as released. Containers carry this hash: another one for the same spec replaces them at an
 * upgrade. Lines are added for new fields; a line that is there is never changed.
 */
interface Golden {
  kind: CoreKind;
  hash: string;
  spec: Spec;
}

const file = `${import.meta.dir}/../../../golden/spec-hashes.jsonl`;
const goldens = (await Bun.file(file).text())
  .trim()
  .split("\n")
  .map((line): Golden => JSON.parse(line));

test("every spec keeps its hash, also specs with fields of other versions", () => {
  const changed = goldens.filter(({ kind, hash, spec }) => specHash(kind, spec) !== hash);
  expect(changed).toEqual([]);
});

test("the order of the fields does not matter", () => {
  const backwards = ({ spec }: Golden) => Object.fromEntries(Object.entries(spec).reverse());
  const changed = goldens.filter((golden) => specHash(golden.kind, backwards(golden)) !== golden.hash);
  expect(changed).toEqual([]);
});

test("the recorded specs are of every kind, and most of them pass validation", () => {
  const valid = goldens.filter(({ kind, spec }) => validateSpec(kind, spec, limits).length === 0);
  const count = (kind: CoreKind) => valid.filter((golden) => golden.kind === kind).length;
  for (const kind of ["deployment", "statefulset", "job", "cronjob"] as const) expect(count(kind)).toBeGreaterThan(40);
  for (const kind of ["asset", "registry", "ingress"] as const) expect(count(kind)).toBeGreaterThan(2);
  expect(valid.length).toBeGreaterThan(goldens.length / 2);
});

test("a written default is no other spec, a changed field is one", () => {
  const hash = (spec: Spec) => specHash("deployment", { image: "web:1", ...spec });
  for (const spec of [{ stop_grace: "10s" }, { network_mode: "bridge" }, { logs: { max_files: 3 } }, { replicas: 4 }]) {
    expect(hash(spec)).toBe(hash({}));
  }
  expect(new Set([hash({}), hash({ stop_grace: "9s" }), hash({ image: "web:2" }), hash({ env: { A: "" } })]).size).toBe(
    4,
  );
});
