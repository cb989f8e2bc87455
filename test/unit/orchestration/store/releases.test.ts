import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ManifestKey } from "../../../../src/orchestration/api/manifest.ts";
import type { ReleasePlace } from "../../../../src/orchestration/store/records.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { expectFailure } from "../../../support/failure.ts";
import { releaseOf, webKey } from "../../../support/records.ts";
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

const put = (...releases: ReturnType<typeof releaseOf>[]) =>
  store.write((tx) => {
    for (const release of releases) tx.releases.put(release);
  });
const ids = () => store.releases.list(webKey).map(({ id }) => id);

test("a release comes back whole, with and without its optional fields", async () => {
  const full = releaseOf("a", { reasons: ["ProgressDeadline", "ImagePull"] });
  const bare = releaseOf("b", {
    status: "pending",
    imageId: undefined,
    rolledBackFrom: undefined,
    takenBack: [],
    endedAt: undefined,
    preExitCode: undefined,
    exitCode: undefined,
    postExitCode: undefined,
    error: undefined,
  });
  await put(full, bare);
  expect(store.releases.get("a")).toEqual(full);
  expect(store.releases.get("b")).toEqual(bare);
  expect(store.releases.get("c")).toBeUndefined();
});

test("an update replaces every field and keeps the place in the list", async () => {
  await put(releaseOf("a", { status: "running", good: false }), releaseOf("b"));
  const after = releaseOf("a", {
    status: "succeeded",
    good: true,
    hash: "h2",
    log: "more",
    spec: { image: "app:2" },
    reasons: ["CrashLoop"],
  });
  await put(after);
  expect(store.releases.get("a")).toEqual(after);
  expect(ids()).toEqual(["b", "a"]);
});

test("a release that was read before is found as it is now, and undefined once it is gone", async () => {
  const before = releaseOf("a", { status: "running", good: false });
  await put(before);
  const after = releaseOf("a");
  await put(after);
  expect(store.releases.now(before)).toEqual(after);
  expect(store.releases.now(releaseOf("b"))).toBeUndefined();
  await store.write((tx) => tx.manifests.put({ ...webKey, kind: "deployment", spec: {} }, 1));
  await store.write((tx) => tx.manifests.delete(webKey));
  expect(store.releases.now(before)).toBeUndefined();
});

test("an id is taken while a release of any resource has it", async () => {
  await put(releaseOf("a", { name: "db" }));
  expect([store.releases.isTaken("a"), store.releases.isTaken("b")]).toEqual([true, false]);
});

test("the list is newest first and of one resource; other kinds of the same name are another one", async () => {
  await put(releaseOf("a"), releaseOf("x", { kind: "statefulset" }), releaseOf("b"), releaseOf("y", { name: "db" }));
  expect(ids()).toEqual(["b", "a"]);
});

test("the newest are kept per resource", async () => {
  await put(...["a", "b", "c", "d", "e"].map((id) => releaseOf(id)), releaseOf("x", { name: "db" }));
  expect(ids()).toEqual(["e", "d", "c"]);
  expect(store.releases.get("x")?.name).toBe("db");
});

test("the newest good ones of different specs or images stay however many failed ones come after", async () => {
  const good = (id: string, hash: string, imageId = "i1") => releaseOf(id, { good: true, hash, imageId });
  await put(good("a", "h0"), good("b", "h1"), good("c", "h2"), good("d", "h1"), good("e", "h1", "i2"));
  await put(...["f", "g", "h", "i"].map((id) => releaseOf(id, { status: "failed", hash: id })));
  expect(ids()).toEqual(["i", "h", "g", "e", "d", "c"]);
});

test("of one spec and image the newest good one stays however old it is, older good ones go", async () => {
  await put(releaseOf("a", { good: true }), releaseOf("b", { good: true }));
  await put(...["c", "d", "e", "f"].map((id) => releaseOf(id, { status: "failed" })));
  expect(ids()).toEqual(["f", "e", "d", "b"]);
  await put(releaseOf("g", { good: true }));
  expect(ids()).toEqual(["g", "f", "e"]);
});

test("one that has not ended stays until it has", async () => {
  await put(releaseOf("a", { status: "running" }), ...["b", "c", "d", "e"].map((id) => releaseOf(id)));
  expect(ids()).toEqual(["e", "d", "c", "a"]);
  await put(releaseOf("a", { status: "failed" }));
  expect(ids()).toEqual(["e", "d", "c"]);
});

test("unfinished ones of all resources, oldest first", async () => {
  await put(
    releaseOf("a", { status: "pending" }),
    releaseOf("b"),
    releaseOf("c", { status: "failed" }),
    releaseOf("d", { status: "running", name: "db" }),
  );
  expect(store.releases.unfinished().map(({ id }) => id)).toEqual(["a", "d"]);
});

test("an id of another resource is refused and nothing is written", async () => {
  await put(releaseOf("a"));
  const failure = await expectFailure(put(releaseOf("a", { name: "db", log: "other" })), "conflict");
  expect(failure.message).toContain('release id "a"');
  expect(store.releases.get("a")).toEqual(releaseOf("a"));
});

test("secrets of the spec are sealed in the row, and bound to it", async () => {
  const spec = { url: "registry.test", token: "hunter2" };
  await put(releaseOf("a", { kind: "registry", spec }), releaseOf("b", { kind: "registry", spec }));
  expect(store.releases.get("a")?.spec).toEqual(spec);
  store.close();
  const raw = new Database(at.path);
  const row = raw.query<{ spec: string }, []>("select spec from releases where id = 'a'").get();
  expect(row?.spec).toContain("registry.test");
  expect(row?.spec).not.toContain("hunter2");
  raw.run("update releases set spec = (select spec from releases where id = 'a') where id = 'b'");
  raw.close();
  store = openTestStore(at);
  expect(() => store.releases.get("b")).toThrow("altered or moved");
});

test("they go with their manifest, and a change that is undone leaves none", async () => {
  await store.write((tx) => tx.manifests.put({ ...webKey, kind: "deployment", spec: {} }, 1));
  await put(releaseOf("a"), releaseOf("b", { name: "db" }));
  const undone = store.write((tx) => {
    tx.releases.put(releaseOf("c"));
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(ids()).toEqual(["a"]);
  await store.write((tx) => tx.manifests.delete(webKey));
  expect(ids()).toEqual([]);
  expect(store.releases.get("b")?.name).toBe("db");
});

test("a page of all releases is newest first, goes on behind a place, and leaves out what is not wanted", async () => {
  const names = ["a", "b", "c"];
  const all = Array.from({ length: 900 }, (_, index) =>
    // Three of them begin at the same time.
    releaseOf(`r${String(index).padStart(4, "0")}`, { name: names[index % 3] ?? "", startedAt: Math.floor(index / 3) }),
  );
  store.close();
  at.remove();
  at = testRoot();
  store = openTestStore(at, { limits: { ...testLimits, releasesKept: 300 } });
  await put(...all);
  const newest = all.toReversed().map(({ id }) => id);
  const page = (limit: number, before?: ReleasePlace, isWanted = (_key: ManifestKey) => true) =>
    store.releases.page({ limit, before, isWanted });
  expect(page(1_000).map(({ id }) => id)).toEqual(newest);
  const some = page(10);
  expect(some.map(({ id }) => id)).toEqual(newest.slice(0, 10));
  expect(page(10, some.at(-1)).map(({ id }) => id)).toEqual(newest.slice(10, 20));
  const ofB = page(299, undefined, ({ name }) => name === "b");
  expect(ofB.map(({ id }) => id)).toEqual(newest.filter((_, index) => index % 3 === 1).slice(0, 299));
  const { spec, log, ...head } = all[1] ?? releaseOf("none");
  expect(page(10, ofB.at(-1), ({ name }) => name === "b")).toEqual([head]);
  expect(page(10, { startedAt: 0, id: "" })).toEqual([]);
});
