import { expect, test } from "bun:test";
import fc from "fast-check";
import { specSchemas, type WritableKind } from "../../src/orchestration/api/kinds/schemas.ts";
import type { CoreKind, Spec } from "../../src/orchestration/api/manifest.ts";
import { limits } from "../../src/config/config.ts";
import type { CoreDraft } from "../../src/orchestration/core/draft.ts";
import { reservationsOf, duplicateReservations } from "../../src/orchestration/core/reservations.ts";
import { changedPaths } from "../../src/orchestration/core/diff.ts";
import { canonicalJson } from "../../src/base/pure/digest.ts";
import { specHash } from "../../src/orchestration/core/spec-hash.ts";
import { expandApp } from "../../src/orchestration/core/expand.ts";
import { maskSpec, restoreMasked } from "../../src/orchestration/core/mask.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { normaliseSpec } from "../../src/orchestration/core/normalise.ts";
import { resolveWorkload } from "../../src/orchestration/core/resolve.ts";
import { decodeManifests, validateSpec } from "../../src/orchestration/core/validate.ts";
import { kindAndSpec, specs } from "./core-specs.ts";

const kinds = Object.keys(specSchemas) as WritableKind[];
const fieldNames = [...new Set(Object.values(specSchemas).flatMap(({ properties }) => Object.keys(properties)))];
const jsonValue = fc.jsonValue({ maxDepth: 4 });
/** Objects whose keys are often ours, so that the deeper checks are reached. */
const wildSpec = fc.dictionary(fc.oneof(fc.constantFrom(...fieldNames), fc.string()), jsonValue, { maxKeys: 6 });

/** The same value with the keys of every object in another order. */
function reorder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reorder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reorder(item)]),
  );
}

test("the generated specs are valid", () => {
  fc.assert(
    fc.property(kindAndSpec, ({ kind, spec }) => {
      expect(validateSpec(kind, spec, limits)).toEqual([]);
    }),
    { numRuns: 400 },
  );
});

test("no JSON makes validation throw, and a spec with an unknown field is never accepted", () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.oneof(wildSpec, jsonValue), (kind, spec) => {
      const problems = validateSpec(kind, spec, limits);
      const fields = typeof spec === "object" && spec !== null ? Object.keys(spec) : [];
      const known = Object.keys(specSchemas[kind].properties);
      if (fields.some((field) => !known.includes(field))) expect(problems).not.toEqual([]);
      for (const { path, message } of problems) {
        expect(path).toStartWith("spec");
        expect(message).not.toBe("");
      }
    }),
    { numRuns: 500 },
  );
});

test("a field of the wrong type in a valid spec is the only fault: no rule speaks of what stands in for it", () => {
  fc.assert(
    fc.property(kindAndSpec, fc.nat(), ({ kind, spec }, pick) => {
      const fields = Object.keys(spec);
      const field = fields[pick % fields.length];
      if (field === undefined) return;
      const problems = validateSpec(kind, { ...spec, [field]: [[null]] }, limits);
      expect(problems).not.toEqual([]);
      for (const { path } of problems) expect(path).toStartWith(`spec.${field}`);
    }),
    { numRuns: 500 },
  );
});

test("a rule is told whatever has the wrong type beside it", () => {
  fc.assert(
    fc.property(specs.deployment, fc.constantFrom("image", "probes", "rollout", "ports", "zzz"), (spec, field) => {
      const problems = validateSpec("deployment", { ...spec, [field]: [[null]], restart: "perhaps" }, limits);
      expect(problems.map(({ path }) => path)).toContain("spec.restart");
    }),
  );
});

test("an unknown field deep inside a valid spec is found at its path", () => {
  const nested = ["probes", "rollout", "resources", "logs", "on_probe"];
  fc.assert(
    fc.property(
      specs.deployment,
      fc.constantFrom(...nested),
      fc.stringMatching(/^zz[a-z]{3}$/),
      (spec, field, extra) => {
        const inner = Object(spec[field] ?? {});
        const problems = validateSpec("deployment", { ...spec, [field]: { ...inner, [extra]: 1 } }, limits);
        expect(problems.map(({ path }) => path)).toContain(`spec.${field}.${extra}`);
      },
    ),
  );
});

test("no body makes decoding throw; what is accepted has known fields only", () => {
  const manifest = fc.record(
    {
      kind: fc.oneof(fc.constantFrom(...kinds, "Deployments"), fc.string()),
      scope: fc.oneof(fc.constantFrom("shop", ""), jsonValue),
      name: fc.oneof(fc.constantFrom("web", "db"), jsonValue),
      spec: fc.oneof(specs.deployment, wildSpec, jsonValue),
      metadata: jsonValue,
      extra: jsonValue,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(manifest, fc.array(manifest, { maxLength: 3 }), jsonValue), (body) => {
      const { manifests, problems } = decodeManifests(body, { limits });
      if (problems.length > 0) return;
      expect(manifests.length).toBeGreaterThan(0);
      for (const { kind, spec } of manifests) expect(validateSpec(kind, spec, limits)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("the order of keys never matters to canonical JSON and hash", () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      expect(canonicalJson(reorder(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  fc.assert(
    fc.property(specs.deployment, specs.statefulset, (deployment, statefulset) => {
      expect(specHash("deployment", reorder(deployment) as Spec)).toBe(specHash("deployment", deployment));
      expect(specHash("statefulset", reorder(statefulset) as Spec)).toBe(specHash("statefulset", statefulset));
    }),
  );
});

test("a diff is empty exactly when the canonical forms are equal", () => {
  const spec = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(spec, spec, (a, b) => {
      expect(changedPaths(a, a)).toEqual([]);
      expect(changedPaths(a, reorder(a) as Spec)).toEqual([]);
      expect(changedPaths(a, b).length === 0).toBe(canonicalJson(a) === canonicalJson(b));
      expect(changedPaths(b, a)).toEqual(changedPaths(a, b));
    }),
  );
});

test("masking and restoring gives the spec back, and a masked spec shows no secret", () => {
  fc.assert(
    fc.property(kindAndSpec, ({ kind, spec }) => {
      const masked = maskSpec(kind, spec);
      expect(restoreMasked(kind, masked, spec)).toEqual({ spec, problems: [] });
      expect(maskSpec(kind, masked)).toEqual(masked);
      expect(Object.keys(masked)).toEqual(Object.keys(spec));
    }),
    { numRuns: 400 },
  );
});

test("an app expands into valid manifests that together hold every field", () => {
  fc.assert(
    fc.property(specs.app, (spec) => {
      const drafts = expandApp({ kind: "app", scope: "shop", name: "web", spec });
      for (const draft of drafts) expect(validateSpec(draft.kind, draft.spec, limits)).toEqual([]);
      expect(Object.assign({}, ...drafts.map((draft) => draft.spec))).toEqual(spec);
    }),
  );
});

test("normalising keeps a spec valid and settles at once", () => {
  fc.assert(
    fc.property(kindAndSpec, ({ kind, spec }) => {
      const once = normaliseSpec(kind, spec);
      expect(validateSpec(kind, once, limits)).toEqual([]);
      expect(normaliseSpec(kind, once)).toEqual(once);
    }),
  );
});

const draft: fc.Arbitrary<CoreDraft> = fc
  .record({
    kind: fc.constantFrom<CoreKind>("deployment", "statefulset", "job", "ingress"),
    scope: fc.constantFrom("a", "b", "a-b"),
    name: fc.constantFrom("b", "c", "b-c", "c-0", "c-1", "c-release"),
    extra: fc.constantFrom<Spec>(
      {},
      { release: { command: ["x"] } },
      { volume_claims: [{ name: "d", mount_path: "/d" }] },
      { host: "h.test" },
      { host: "H.test", locations: [{ path: "/x/" }] },
      { hosts: ["h.test"], locations: [{ path: "/x" }, { path: "/y" }] },
    ),
  })
  .map(({ extra, ...identity }) => ({ ...identity, spec: extra }));

test("reservations conflict in both directions or in none, and never with oneself", () => {
  fc.assert(
    fc.property(draft, draft, (a, b) => {
      const clashes = (batch: CoreDraft[]) =>
        [...new Set(duplicateReservations(batch).map(({ name }) => name))].toSorted();
      expect(clashes([a, b])).toEqual(clashes([b, a]));
      expect(clashes([a, a])).toEqual([]);
      for (const name of clashes([a, b])) {
        for (const side of [a, b]) expect(reservationsOf(side).map((one) => one.name)).toContain(name);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a valid spec resolves without problems, anything else without throwing", () => {
  const resolve = (kind: "deployment" | "statefulset", spec: Spec) =>
    resolveWorkload({
      manifest: { kind, scope: "s", name: "n", spec, revision: 1, generation: 0, createdAt: 0, updatedAt: 0 },
      config: {},
      envFrom: [],
      assetPath: (digest) => `/assets/${digest}`,
      isPlainVolume: () => false,
      findReferenced: () => undefined,
      names: naming(),
    });
  fc.assert(
    fc.property(specs.deployment, specs.statefulset, wildSpec, (deployment, statefulset, wild) => {
      expect(resolve("deployment", deployment).problems).toEqual([]);
      expect(resolve("statefulset", statefulset).problems).toEqual([]);
      expect(() => resolve("deployment", wild)).not.toThrow();
    }),
  );
});
