import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { CoreKind, ManifestKey, Spec } from "../../../../src/orchestration/api/manifest.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../support/store-root.ts";

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

const web = { kind: "deployment" as const, scope: "shop", name: "web" };
const put = (key: ManifestKey & { kind: CoreKind }, spec: Spec, now = 1) =>
  store.write((tx) => tx.manifests.put({ ...key, spec }, now));

test("a first put creates, with the first revision", async () => {
  const { outcome, manifest, previous } = await put(web, { image: "a" }, 100);
  expect({ outcome, previous }).toEqual({ outcome: "created", previous: undefined });
  expect(manifest).toEqual({
    ...web,
    spec: { image: "a" },
    revision: 1,
    generation: 1,
    createdAt: 100,
    updatedAt: 100,
  });
  expect(store.manifests.get(web)).toEqual(manifest);
});

test("other content updates: a higher revision, created_at and generation kept, the former row told", async () => {
  const first = await put(web, { image: "a" }, 100);
  const second = await put(web, { image: "b" }, 200);
  expect(second.outcome).toBe("updated");
  expect(second.previous).toEqual(first.manifest);
  expect(second.manifest).toMatchObject({ revision: 2, generation: 1, createdAt: 100, updatedAt: 200 });
});

test("the same content, keys in any order, changes nothing and moves nothing", async () => {
  const first = await put(web, { image: "a", env: { A: "1", B: "2" } }, 100);
  const moved: ManifestKey[][] = [];
  store.subscribe((keys) => moved.push(keys));
  const again = await put(web, { env: { B: "2", A: "1" }, image: "a" }, 200);
  expect(again).toEqual({ outcome: "unchanged", manifest: first.manifest, previous: first.manifest });
  expect(moved).toEqual([]);
});

test("a secret is sealed in the row and opened on every read; the same secret changes nothing", async () => {
  const registry = { kind: "registry" as const, scope: "", name: "hub" };
  const spec = { url: "registry.test", token: "hunter2" };
  const first = await put(registry, spec);
  expect(first.manifest.spec).toEqual(spec);
  expect(store.manifests.get(registry)?.spec).toEqual(spec);
  expect(store.manifests.list({ kind: "registry" })[0]?.spec).toEqual(spec);
  expect((await put(registry, { ...spec })).outcome).toBe("unchanged");
  expect((await put(registry, { ...spec, token: "hunter3" })).previous?.spec).toEqual(spec);
  const raw = new Database(at.path, { readonly: true });
  const row = raw.query<{ spec: string }, []>("select spec from manifests").get();
  raw.close();
  expect(row?.spec).toContain("registry.test");
  expect(row?.spec).not.toContain("hunter");
});

test("a field that became secret later is read as it was stored", async () => {
  const plain = { kind: "registry" as const, scope: "", name: "hub" };
  store.close();
  store = openTestStore(at, { mapSecrets: (_kind, spec) => spec });
  await put(plain, { token: "hunter2" });
  store.close();
  store = openTestStore(at);
  expect(store.manifests.get(plain)?.spec).toEqual({ token: "hunter2" });
});

test("the stored spec is not the caller's object", async () => {
  const spec = { list: [1] };
  const { manifest } = await put(web, spec);
  spec.list.push(2);
  expect(manifest.spec).toEqual({ list: [1] });
  expect(store.manifests.get(web)?.spec).toEqual({ list: [1] });
});

test("lists are ordered by kind, scope and name, and every filter narrows", async () => {
  const keys: [CoreKind, string, string][] = [
    ["job", "b", "x"],
    ["asset", "", "z"],
    ["deployment", "b", "x"],
    ["deployment", "a", "y"],
    ["deployment", "a", "x"],
  ];
  for (const [kind, scope, name] of keys) await put({ kind, scope, name }, {});
  const names = (filter?: { kind?: string; scope?: string; name?: string }) =>
    store.manifests.list(filter).map(({ kind, scope, name }) => `${kind}/${scope}/${name}`);
  expect(names()).toEqual(["asset//z", "deployment/a/x", "deployment/a/y", "deployment/b/x", "job/b/x"]);
  expect(names({ kind: "deployment" })).toEqual(["deployment/a/x", "deployment/a/y", "deployment/b/x"]);
  expect(names({ scope: "b" })).toEqual(["deployment/b/x", "job/b/x"]);
  expect(names({ scope: "" })).toEqual(["asset//z"]);
  expect(names({ kind: "deployment", scope: "a", name: "y" })).toEqual(["deployment/a/y"]);
  expect(names({ name: "none" })).toEqual([]);
  expect(store.manifests.count()).toBe(5);
});

test("heads follow every change", async () => {
  const head = () => store.manifests.heads().find(({ name }) => name === "web");
  expect(head()).toBeUndefined();
  await put(web, { image: "a" });
  expect(head()).toEqual({ ...web, revision: 1, generation: 1 });
  await put(web, { image: "b" });
  expect(head()).toEqual({ ...web, revision: 2, generation: 1 });
  await store.write((tx) => tx.manifests.raiseGeneration(web));
  expect(head()).toEqual({ ...web, revision: 2, generation: 3 });
  await store.write((tx) => tx.manifests.delete(web));
  expect(head()).toBeUndefined();
});

test("heads forget what was undone", async () => {
  await put(web, { image: "a" });
  store.manifests.heads();
  const undone = store.write((tx) => {
    tx.manifests.put({ ...web, spec: { image: "b" } }, 1);
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(store.manifests.heads()).toEqual([{ ...web, revision: 1, generation: 1 }]);
});

test("delete takes status, frozen marks, reservations, dependencies and image pins along", async () => {
  await put(web, {});
  const pin = { ...web, hash: "h", generation: 1, ref: "a", imageId: "i", digest: undefined, at: 1 };
  await store.write((tx) => {
    tx.status.put(web, { phase: "ready" });
    tx.frozen.add(web, "abcde", 1);
    tx.manifests.setReservations(web, [{ name: "host", owner: "web" }]);
    tx.manifests.setDependencies(web, ["asset/shop/logo"]);
    tx.images.pin(pin);
  });
  expect(store.status.get(web)).toEqual({ phase: "ready" });
  expect(await store.write((tx) => tx.manifests.delete(web))).toBe(true);
  expect(await store.write((tx) => tx.manifests.delete(web))).toBe(false);
  expect(store.manifests.get(web)).toBeUndefined();
  expect(store.status.get(web)).toBeUndefined();
  expect(store.frozen.list(web)).toEqual([]);
  expect(store.manifests.dependants("asset/shop/logo")).toEqual([]);
  expect(store.images.pinOf(web)).toBeUndefined();
  const other = { kind: "ingress", scope: "shop", name: "web" };
  const conflicts = await store.write((tx) =>
    tx.manifests.reservationConflicts(other, [{ name: "host", owner: "else" }]),
  );
  expect(conflicts).toEqual([]);
});

test("a delete that is undone leaves the status", async () => {
  await put(web, {});
  await store.write((tx) => tx.status.put(web, { phase: "ready" }));
  const undone = store.write((tx) => {
    tx.manifests.delete(web);
    expect(tx.status.get(web)).toBeUndefined();
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(store.status.get(web)).toEqual({ phase: "ready" });
});

test("what is kept in memory is the row: read often, altered by nobody, gone with what was undone", async () => {
  const { manifest } = await put(web, { image: "a", env: { A: "1" } });
  expect(store.manifests.get(web)).toBe(store.manifests.get(web));
  expect(() => Object.assign(manifest.spec.env ?? {}, { A: "2" })).toThrow();
  const undone = store.write((tx) => {
    tx.manifests.put({ ...web, spec: { image: "b" } }, 1);
    expect(tx.manifests.get(web)?.spec).toEqual({ image: "b" });
    tx.manifests.raiseGeneration(web);
    tx.frozen.add(web, "abcde", 1);
    tx.images.pin({ ...web, hash: "h", generation: 1, ref: "a", imageId: "i", digest: undefined, at: 1 });
    expect([tx.frozen.list(web), tx.images.pinOf(web)?.imageId]).toEqual([["abcde"], "i"]);
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(store.manifests.get(web)).toEqual(manifest);
  expect([store.frozen.list(web), store.images.pinOf(web)]).toEqual([[], undefined]);
  const generation = await store.write((tx) => tx.manifests.raiseGeneration(web));
  expect(store.manifests.get(web)?.generation).toBe(generation);
});

test("long specs and those with secrets are read anew each time", async () => {
  const long = { env: { A: "x".repeat(20_000) } };
  await put(web, long);
  expect(store.manifests.get(web)?.spec).toEqual(long);
  expect(store.manifests.get(web)).not.toBe(store.manifests.get(web));
  const login = { kind: "registry" as const, scope: "", name: "hub" };
  await put(login, { url: "hub.test", token: "hunter2" });
  expect(store.manifests.get(login)?.spec.token).toBe("hunter2");
  expect(store.manifests.get(login)).not.toBe(store.manifests.get(login));
});

test("versions never come back: not after a delete, nor after a restart", async () => {
  await put(web, { image: "a" });
  await store.write((tx) => tx.manifests.raiseGeneration(web));
  await store.write((tx) => tx.manifests.delete(web));
  store.close();
  store = openTestStore(at);
  const again = await put(web, { image: "a" });
  expect(again.manifest).toMatchObject({ revision: 3, generation: 3 });
});

test("raising the generation of what is not there fails and says so", async () => {
  const raised = store.write((tx) => tx.manifests.raiseGeneration(web));
  await expect(raised).rejects.toMatchObject({ code: "not_found", message: "deployment/shop/web does not exist" });
});

test("subscribers hear of put, generation, touch, freeze, delete mark and delete, never of status or config", async () => {
  const moved: string[] = [];
  store.subscribe((keys) => moved.push(keys.map(({ name }) => name).join()));
  await put(web, {});
  await store.write((tx) => tx.manifests.raiseGeneration(web));
  await store.write((tx) => tx.manifests.touch(web));
  await store.write((tx) => tx.frozen.add(web, "abcde", 1));
  await store.write((tx) => tx.deletions.put({ ...web, at: 1, prune: false }));
  await store.write((tx) => tx.manifests.delete(web));
  expect(moved).toEqual(Array.from({ length: 6 }, () => "web"));
  await store.write((tx) => {
    tx.status.put(web, {});
    tx.config.patch("shop", "web", { A: "1" }, { now: 1 });
    tx.frozen.remove(web);
    tx.manifests.setDependencies(web, []);
  });
  expect(moved).toHaveLength(6);
});
