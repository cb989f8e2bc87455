import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CoreKind,
  coreKinds,
  type ManifestKey,
  type Spec,
  type StoredManifest,
} from "../../src/orchestration/api/manifest.ts";
import type { Store } from "../../src/orchestration/store/store.ts";
import { openTestStore, testRoot } from "../support/store-root.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => !value.includes("\0"));
const spec = fc
  .dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 3 })), {
    maxKeys: 4,
  })
  .map((fields): Spec => fields);
const key = fc.record({
  kind: fc.constantFrom<CoreKind[]>(...coreKinds),
  scope: fc.constantFrom("", "a", "a-b"),
  name: fc.constantFrom("x", "b-x"),
});

type Step =
  | { do: "put"; key: ManifestKey & { kind: CoreKind }; spec: Spec }
  | { do: "delete" | "raise"; key: ManifestKey & { kind: CoreKind } }
  | { do: "fail"; key: ManifestKey & { kind: CoreKind }; spec: Spec }
  | { do: "reopen" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("put" as const), key, spec }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("delete" as const, "raise" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), key, spec }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
);

type Model = Map<string, StoredManifest>;
const idOf = ({ kind, scope, name }: ManifestKey) => `${kind}/${scope}/${name}`;
const order = (a: ManifestKey, b: ManifestKey) =>
  [a.kind, a.scope, a.name].join("\0") < [b.kind, b.scope, b.name].join("\0") ? -1 : 1;
const same = (a: Spec, b: Spec) => Bun.deepEquals(a, b);

/** Does one step on both; returns the number it was given, if any. */
async function take(store: Store, model: Model, taken: Exclude<Step, { do: "reopen" }>, now: number) {
  const known = model.get(idOf(taken.key));
  switch (taken.do) {
    case "put": {
      const { manifest, outcome, previous } = await store.write((tx) =>
        tx.manifests.put({ ...taken.key, spec: taken.spec }, now),
      );
      expect(previous).toEqual(known);
      expect(outcome).toBe(known === undefined ? "created" : same(known.spec, taken.spec) ? "unchanged" : "updated");
      expect(manifest).toMatchObject({ ...taken.key, createdAt: known?.createdAt ?? now });
      expect(manifest.spec).toEqual(taken.spec);
      model.set(idOf(taken.key), manifest);
      return outcome === "unchanged" ? undefined : manifest.revision;
    }
    case "delete":
      expect(await store.write((tx) => tx.manifests.delete(taken.key))).toBe(known !== undefined);
      model.delete(idOf(taken.key));
      return undefined;
    case "raise": {
      const raised = store.write((tx) => tx.manifests.raiseGeneration(taken.key));
      if (!known) return void (await expect(raised).rejects.toMatchObject({ code: "not_found" }));
      const generation = await raised;
      model.set(idOf(taken.key), { ...known, generation });
      return generation;
    }
    case "fail": {
      const failed = store.write((tx) => {
        tx.manifests.put({ ...taken.key, spec: taken.spec }, now);
        tx.manifests.delete(taken.key);
        throw new Error("undone");
      });
      await expect(failed).rejects.toThrow("undone");
      return undefined;
    }
  }
}

function expectSame(store: Store, model: Model): void {
  const rows = [...model.values()].sort(order);
  expect(store.manifests.list()).toEqual(rows);
  expect(store.manifests.count()).toBe(rows.length);
  expect(store.manifests.heads().sort(order)).toEqual(
    rows.map(({ kind, scope, name, revision, generation }) => ({ kind, scope, name, revision, generation })),
  );
  for (const row of rows) expect(store.manifests.get(row)).toEqual(row);
}

test("manifests behave like a map whose versions only grow", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
    const at = testRoot();
    const model: Model = new Map();
    let store = openTestStore(at);
    let last = 0;
    try {
      for (const [now, taken] of steps.entries()) {
        if (taken.do === "reopen") {
          store.close();
          store = openTestStore(at);
          continue;
        }
        const version = await take(store, model, taken, now);
        if (version === undefined) continue;
        expect(version).toBeGreaterThan(last);
        last = version;
      }
      expectSame(store, model);
    } finally {
      store.close();
      at.remove();
    }
  });
  await fc.assert(property, { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 20), 500) });
});
