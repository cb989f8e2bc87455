import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { AtomicApply } from "../../../../src/orchestration/store/atomic-records.ts";
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

const apply = (id: string, more: Partial<AtomicApply> = {}): AtomicApply => ({
  id,
  actor: "ana",
  state: "waiting",
  startedAt: 1,
  endedAt: undefined,
  error: undefined,
  members: [
    {
      ...{ kind: "registry", scope: "", name: "hub", action: "updated", revision: 7 },
      ...{ release: "r1", previous: { token: "s3cret-t0ken" }, imageId: "sha256:1", outcome: "kept" },
    },
  ],
  ...more,
});
const put = (...applies: AtomicApply[]) =>
  store.write((tx) => {
    for (const one of applies) tx.atomic.put(one);
  });

test("an apply comes back as it was put, also from the disk, and waits until it has ended", async () => {
  expect(store.atomic.waiting()).toEqual([]);
  await put(apply("a"), apply("b"));
  expect(store.atomic.waiting()).toEqual([apply("a"), apply("b")]);
  const ended = apply("a", { state: "stuck", endedAt: 9, error: "host taken", members: [] });
  await put(ended);
  store.close();
  store = openTestStore(at);
  expect([store.atomic.get("a"), store.atomic.get("none")]).toEqual([ended, undefined]);
  expect(store.atomic.waiting().map(({ id }) => id)).toEqual(["b"]);
});

test("the newest are kept, and those that wait beyond them", async () => {
  await put(apply("old"), ...["a", "b", "c", "d"].map((id) => apply(id, { state: "kept" })));
  expect(["old", "a", "b", "c", "d"].filter((id) => store.atomic.get(id) !== undefined)).toEqual([
    "old",
    "b",
    "c",
    "d",
  ]);
});

test("the specs of before are sealed on the disk", async () => {
  await put(apply("a"));
  store.close();
  const bytes = readFileSync(at.path).toString("latin1");
  expect(bytes).not.toContain("s3cret-t0ken");
  expect(bytes).toContain("ana");
  store = openTestStore(at);
});

test("an end that was undone leaves the apply waiting", async () => {
  await put(apply("a"));
  const undone = store.write((tx) => {
    tx.atomic.put(apply("a", { state: "kept", endedAt: 2 }));
    expect(tx.atomic.waiting()).toEqual([]);
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  expect(store.atomic.waiting()).toEqual([apply("a")]);
});
