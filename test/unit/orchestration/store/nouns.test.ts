import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ManifestKey } from "../../../../src/orchestration/api/manifest.ts";
import type { ImagePin } from "../../../../src/orchestration/store/image-records.ts";
import type { Operation, Store, Transaction } from "../../../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testLimits, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
let store: Store;
beforeEach(() => {
  at = testRoot();
  store = openTestStore(at);
});
afterEach(() => {
  store.close();
  at.remove();
});

const web = { kind: "deployment", scope: "shop", name: "web" };
const db = { kind: "statefulset", scope: "shop", name: "db" };

test("status: the last one put is read, and readers cannot alter it", async () => {
  expect(store.status.get(web)).toBeUndefined();
  await store.write((tx) => tx.status.put(web, { phase: "progressing", conditions: [{ type: "Ready" }] }));
  expect(store.status.get(web)).toEqual({ phase: "progressing", conditions: [{ type: "Ready" }] });
  await store.write((tx) => tx.status.put(web, { phase: "ready" }));
  const status = store.status.get(web);
  expect(status).toEqual({ phase: "ready" });
  expect(() => Object.assign(status ?? {}, { phase: "other" })).toThrow();
  expect(store.status.get(web)).toEqual({ phase: "ready" });
});

test("frozen: marks are listed per resource and in all, and removed by id or at once", async () => {
  await store.write((tx) => {
    for (const id of ["b", "a", "a"]) tx.frozen.add(web, id, 1);
    tx.frozen.add(db, "0", 1);
  });
  expect(store.frozen.list(web)).toEqual(["a", "b"]);
  expect(store.frozen.all()).toEqual([
    { ...web, replicaId: "a" },
    { ...web, replicaId: "b" },
    { ...db, replicaId: "0" },
  ]);
  expect(await store.write((tx) => tx.frozen.remove(web, "a"))).toEqual(["a"]);
  expect(await store.write((tx) => tx.frozen.remove(web, "a"))).toEqual([]);
  expect(await store.write((tx) => tx.frozen.remove(web))).toEqual(["b"]);
  expect(store.frozen.all()).toEqual([{ ...db, replicaId: "0" }]);
});

test("frozen: adding what is there or removing what is not moves nothing", async () => {
  await store.write((tx) => tx.frozen.add(web, "a", 1));
  let calls = 0;
  store.subscribe(() => calls++);
  await store.write((tx) => {
    tx.frozen.add(web, "a", 2);
    tx.frozen.remove(web, "b");
  });
  expect(calls).toBe(0);
});

test("events: come back whole and in order, the newest ones or those after a number", async () => {
  const full = { actor: "ana", action: "config.set", ...web, revision: 7, detail: { keys: ["A"] } };
  const seqs = await store.write((tx) => [
    tx.events.append({ actor: "ana", action: "one" }, 10),
    tx.events.append(full, 20),
    tx.events.append({ actor: "bob", action: "three", scope: "shop" }, 30),
  ]);
  const list = store.events.list({ limit: 10 });
  expect(list).toEqual([
    { seq: seqs[0] ?? 0, at: 10, actor: "ana", action: "one" },
    { seq: seqs[1] ?? 0, at: 20, ...full },
    { seq: seqs[2] ?? 0, at: 30, actor: "bob", action: "three", scope: "shop" },
  ]);
  const actions = (filter: Parameters<typeof store.events.list>[0]) =>
    store.events.list(filter).map(({ action }) => action);
  expect(actions({ limit: 2 })).toEqual(["config.set", "three"]);
  expect(actions({ limit: 1, after: seqs[0] ?? 0 })).toEqual(["config.set"]);
  expect(actions({ limit: 9, scope: "shop" })).toEqual(["config.set", "three"]);
  expect(actions({ limit: 9, ...web })).toEqual(["config.set"]);
  expect(actions({ limit: 9, scope: "shop", after: seqs[1] ?? 0 })).toEqual(["three"]);
});

test("events: the log never holds more than its cap, and loses only the oldest", async () => {
  store.close();
  store = openTestStore(at, { limits: { ...testLimits, eventsKept: 200 } });
  for (let round = 0; round < 5; round++) {
    await store.write((tx) => {
      for (let index = 0; index < 101; index++) tx.events.append({ actor: "a", action: "b" }, index);
    });
    const seqs = store.events.list({ limit: 10_000 }).map(({ seq }) => seq);
    expect(seqs.length).toBeLessThanOrEqual(200);
    if (round > 1) expect(seqs.length).toBeGreaterThan(190);
    expect(seqs.at(-1)).toBe((round + 1) * 101);
    expect(seqs).toEqual(Array.from(seqs, (_, index) => (seqs[0] ?? 0) + index));
  }
});

function removeNow(tx: Transaction, key: ManifestKey): boolean {
  const mark = tx.deletions.get(key);
  return mark !== undefined && tx.deletions.remove(mark);
}

test("deletions: put, read and removed, unless a newer one has taken its place", async () => {
  const mark = { ...web, at: 5, prune: true };
  await store.write((tx) => tx.deletions.put(mark));
  await store.write((tx) => tx.deletions.put({ ...db, at: 6, prune: false }));
  expect(store.deletions.get(web)).toEqual(mark);
  expect(store.deletions.list()).toEqual([mark, { ...db, at: 6, prune: false }]);
  await store.write((tx) => tx.deletions.put({ ...mark, prune: false }));
  expect(store.deletions.get(web)?.prune).toBe(false);
  const current = { ...mark, ...store.deletions.get(web) };
  expect(await store.write((tx) => tx.deletions.remove(current))).toBe(false);
  expect(store.deletions.get(web)?.prune).toBe(false);
  expect(await store.write((tx) => removeNow(tx, web))).toBe(true);
  expect(store.deletions.get(web)).toBeUndefined();
});

test("what is kept in memory of small tables is forgotten with writes that are undone", async () => {
  const block = { kind: "postgres", scope: "shop", name: "main" };
  const undone = store.write((tx) => {
    tx.deletions.put({ ...web, at: 1, prune: false });
    tx.autoscale.put({ ...web, replicas: 3, lastUpAt: 1, lastDownAt: undefined });
    tx.sleep.put({ ...web, asleep: true, since: 1 });
    tx.blocks.setChildren(block, [db]);
    const seen = [tx.deletions.get(web)?.at, tx.autoscale.get(web)?.replicas, tx.sleep.get(web)?.asleep];
    expect([...seen, tx.blocks.ownerOf(db)]).toEqual([1, 3, true, block]);
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  const { deletions, autoscale, sleep, blocks } = store;
  expect([deletions.get(web), autoscale.get(web), sleep.get(web), blocks.ownerOf(db)]).toEqual(
    Array(4).fill(undefined),
  );
});

test("volumes: outlive the manifest they were made for", async () => {
  const record = (ordinal: number) => ({ ...db, volume: `v-${ordinal}`, claim: "data", ordinal, createdAt: 1 });
  await store.write((tx) => {
    tx.manifests.put({ ...db, kind: "statefulset", spec: {} }, 1);
    for (const ordinal of [1, 0]) tx.volumes.put(record(ordinal));
  });
  await store.write((tx) => tx.manifests.delete(db));
  expect(store.volumes.list(db)).toEqual([record(0), record(1)]);
  expect(store.volumes.get("v-1")).toEqual(record(1));
  await store.write((tx) => tx.volumes.remove("v-1"));
  expect(store.volumes.get("v-1")).toBeUndefined();
});

test("images: the newest pin is current, older ones are kept up to the cap, each image once", async () => {
  const pin = (n: number): ImagePin => ({
    ...web,
    hash: `h${n}`,
    generation: 1,
    ref: "app:1",
    imageId: `i${n}`,
    digest: n % 2 === 0 ? `app@sha256:${n}` : undefined,
    at: n,
  });
  for (let n = 1; n <= 5; n++) await store.write((tx) => tx.images.pin(pin(n)));
  expect(store.images.pinOf(web)).toEqual(pin(5));
  expect(store.images.kept()).toEqual(new Set(["i3", "i4", "i5"]));
  await store.write((tx) => tx.images.pin({ ...pin(4), imageId: "i4b" }));
  expect(store.images.pinOf(web)).toEqual({ ...pin(4), imageId: "i4b" });
  expect(store.images.kept()).toEqual(new Set(["i3", "i4b", "i5"]));
  expect(store.images.pinOf(db)).toBeUndefined();
});

test("images: what we pulled is remembered until it is forgotten", async () => {
  await store.write((tx) => {
    tx.images.pulled("i2", "app:2", 2);
    tx.images.pulled("i1", "app:1", 1);
    tx.images.pulled("i2", "app:2b", 3);
  });
  expect(store.images.pulledList()).toEqual([
    { imageId: "i1", ref: "app:1", at: 1 },
    { imageId: "i2", ref: "app:2b", at: 3 },
  ]);
  await store.write((tx) => tx.images.forgetPulled("i1"));
  expect(store.images.pulledList().map(({ imageId }) => imageId)).toEqual(["i2"]);
});

test("operations: the newest are remembered, each by its id", async () => {
  const operation = (id: string): Operation => ({ id, type: "restart", ...web, generation: 1, startedAt: 1 });
  for (const id of ["a", "b", "c", "d"]) await store.write((tx) => tx.operations.put(operation(id)));
  expect(store.operations.get("a")).toBeUndefined();
  expect(store.operations.get("b")).toEqual(operation("b"));
  expect(store.operations.get("d")).toEqual(operation("d"));
});
