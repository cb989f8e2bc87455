import { expect, test } from "bun:test";
import fc from "fast-check";
import type { CoreKind, Spec } from "../../src/orchestration/api/manifest.ts";
import { coreKinds } from "../../src/orchestration/api/manifest.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import {
  type ReferencedManifest,
  reportedValue,
  reportedValues,
} from "../../src/orchestration/core/reported-values.ts";
import { referenceProblems, type ReferenceTarget } from "../../src/orchestration/core/references.ts";
import { resolveWorkload } from "../../src/orchestration/core/resolve.ts";

const names = naming();
const kind = fc.constantFrom<CoreKind>(...coreKinds);
const name = fc.constantFrom("db", "web", "my.db", "x-1");
const field = fc.constantFrom("host", "port", "url", "digest", "host_0", "host_7", "__proto__", "nothing");

const spec: fc.Arbitrary<Spec> = fc.record(
  {
    host: fc.oneof(fc.constantFrom("a.test", "*.a.test", ""), fc.jsonValue()),
    hosts: fc.oneof(fc.constant(["b.test"]), fc.jsonValue()),
    tls: fc.oneof(fc.constantFrom({}, { enabled: false }), fc.jsonValue()),
    ports: fc.oneof(fc.constantFrom(["80"], ["1:2"], ["x"]), fc.jsonValue()),
    replicas: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom("2", null, -1, 0.5)),
    network_mode: fc.constantFrom("host", "none", "bridge", ""),
    files: fc.constantFrom({}, { a: "x" }),
  },
  { requiredKeys: [] },
);

const reported: fc.Arbitrary<ReferencedManifest> = fc
  .record({ kind, name, spec, digests: fc.option(fc.constant({ a: "1" }), { nil: undefined }) })
  .map(({ digests, ...rest }) => ({ ...rest, scope: "s", ...(digests === undefined ? {} : { digests }) }));

const reference = fc.record({ kind, name, field });

/** Resolves a workload with these references in its environment over a scope that holds these manifests. */
function resolve(references: { kind: string; name: string; field: string }[], present: ReferencedManifest[]) {
  const asked: ReferenceTarget[] = [];
  const stored = new Map(present.map((one) => [`${one.kind}/${one.name}`, one]));
  const lookup = (target: ReferenceTarget) => {
    asked.push(target);
    return target.scope === "s" ? stored.get(`${target.kind}/${target.name}`) : undefined;
  };
  const texts = references.map((one) => `\${ref.${one.kind}.${one.name}.${one.field}}`);
  const env = Object.fromEntries(texts.map((text, index) => [`V${index}`, text]));
  const manifest = { kind: "deployment" as const, scope: "s", name: "n", spec: { env } };
  const { workload, problems } = resolveWorkload({
    ...{
      config: {},
      envFrom: [],
      assetPath: (digest: string) => digest,
      isPlainVolume: () => false,
      findReferenced: lookup,
      names,
    },
    manifest: { ...manifest, revision: 1, generation: 0, createdAt: 0, updatedAt: 0 },
  });
  const faults = referenceProblems(manifest, lookup, names);
  return { workload, problems, faults, asked, texts, find: (key: string) => stored.get(key) };
}

test("every reference has its value or a problem, never both, and nothing outside the scope is read", () => {
  fc.assert(
    fc.property(fc.array(reference, { maxLength: 6 }), fc.array(reported, { maxLength: 6 }), (references, present) => {
      const { workload, problems, asked, texts, find } = resolve(references, present);
      expect(asked.every(({ scope }) => scope === "s")).toBe(true);
      const faulty = new Set(problems.map(({ path }) => path));
      for (const [index, { kind: of, name: called, field: wanted }] of references.entries()) {
        const value = workload.container.env[`V${index}`];
        const target = find(`${of}/${called}`);
        const known = target === undefined ? undefined : reportedValue(target, wanted, names);
        expect(faulty.has(`spec.env.V${index}`)).toBe(known === undefined);
        expect(value).toBe(known ?? texts[index]);
      }
      expect(problems.every(({ reason }) => reason === "ReferenceUnresolved")).toBe(true);
    }),
  );
});

test("what an apply lets pass has a value as soon as everything is there", () => {
  fc.assert(
    fc.property(fc.array(reference, { maxLength: 6 }), fc.array(reported, { maxLength: 6 }), (references, present) => {
      const { faults, problems, find } = resolve(references, present);
      const refused = new Set(faults.map(({ path }) => path));
      for (const { path } of problems) {
        const { kind: of, name: called } = references[Number(path.replace("spec.env.V", ""))] ?? { kind: "", name: "" };
        const target = find(`${of}/${called}`);
        const awaited = target === undefined || (target.kind === "asset" && target.digests === undefined);
        const reports = of === "deployment" || of === "statefulset" || of === "ingress" || of === "asset";
        expect(refused.has(path) || awaited || !reports).toBe(true);
      }
    }),
  );
});

test("values are the same however often they are asked for, and plain text", () => {
  fc.assert(
    fc.property(reported, (one) => {
      const values = reportedValues(one, names);
      expect(reportedValues(structuredClone(one), names)).toEqual(values);
      for (const [key, value] of Object.entries(values)) {
        expect(reportedValue(one, key, names)).toBe(value);
        expect(value).toMatch(/^[a-z0-9._:/-]+$/);
      }
    }),
  );
});
