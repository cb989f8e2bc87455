import { expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStore, testRoot } from "../support/store-root.ts";

const value = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !text.includes("\0"));
const name = fc.constantFrom("A", "B", "_c", "__proto__", "constructor");
const vars = fc.array(fc.tuple(name, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
const place = fc.record({ scope: fc.constantFrom("a", "b"), name: fc.constantFrom("", "web", "api") });
const step = fc.record({
  place,
  vars,
  wipe: fc.nat(9).map((number) => number === 0),
  undo: fc.nat(5).map((n) => n === 0),
});

type Model = Map<string, Map<string, string>>;

const bucketOf = (model: Model, scope: string, app: string) =>
  model.get(`${scope}/${app}`) ?? new Map<string, string>();

/** Sets or unsets as the model sees it; returns the keys that changed. */
function patchModel(model: Model, scope: string, app: string, entries: Record<string, string>): string[] {
  const bucket = new Map(bucketOf(model, scope, app));
  const changed = Object.entries(entries).filter(([key, text]) => (bucket.get(key) ?? "") !== text);
  for (const [key, text] of changed) text === "" ? bucket.delete(key) : bucket.set(key, text);
  model.set(`${scope}/${app}`, bucket);
  return changed.map(([key]) => key);
}

test("config buckets behave like maps, merged like an overlay, with any text as value", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
    const at = testRoot();
    const model: Model = new Map();
    let store = openTestStore(at);
    try {
      for (const taken of steps) {
        const { scope, name: app } = taken.place;
        if (taken.undo) {
          const undone = store.write((tx) => {
            tx.config.patch(scope, app, taken.vars, { now: 1 });
            tx.config.merged(scope, app);
            throw new Error("undone");
          });
          await expect(undone).rejects.toThrow("undone");
        } else if (taken.wipe) {
          const had = bucketOf(model, scope, app).size > 0;
          expect(await store.write((tx) => tx.config.wipe(scope, app))).toBe(had);
          model.delete(`${scope}/${app}`);
        } else {
          const changed = await store.write((tx) => tx.config.patch(scope, app, taken.vars, { now: 1 }));
          expect(changed).toEqual(patchModel(model, scope, app, taken.vars));
        }
        const [top, own] = [bucketOf(model, scope, ""), bucketOf(model, scope, app)];
        expect(new Map(Object.entries(store.config.bucket(scope, app)))).toEqual(own);
        expect(new Map(Object.entries(store.config.merged(scope, app)))).toEqual(new Map([...top, ...own]));
      }
      store.close();
      store = openTestStore(at);
      for (const [id, bucket] of model) {
        const [scope = "", app = ""] = id.split("/");
        expect(new Map(Object.entries(store.config.bucket(scope, app)))).toEqual(bucket);
      }
    } finally {
      store.close();
      at.remove();
    }
  });
  await fc.assert(property, { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 20), 500) });
});

test("any text without NUL comes back as it went in, from every column that takes text", async () => {
  const at = testRoot();
  const store = openTestStore(at);
  const property = fc.asyncProperty(value, value, async (first, second) => {
    const key = { kind: "registry" as const, scope: first, name: "hub" };
    await store.write((tx) => {
      tx.manifests.put({ ...key, spec: { token: second, [first]: first } }, 1);
      tx.status.put(key, { [second]: first });
      tx.frozen.add(key, second, 1);
      tx.events.append({ actor: first, action: second, ...key, detail: { [first]: second } }, 1);
    });
    expect(store.manifests.get(key)).toMatchObject(key);
    expect(store.manifests.get(key)?.spec).toEqual(
      first === "token" ? { token: first } : { token: second, [first]: first },
    );
    expect(store.status.get(key)).toEqual({ [second]: first });
    expect(store.frozen.list(key)).toContain(second);
    expect(store.events.list({ limit: 1 })[0]).toMatchObject({
      actor: first,
      action: second,
      ...key,
      detail: { [first]: second },
    });
  });
  try {
    await fc.assert(property, { numRuns: 100 });
  } finally {
    store.close();
    at.remove();
  }
});
