import { afterEach, beforeEach, expect, test } from "bun:test";
import type { RunRecord } from "../../../../src/orchestration/store/records.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { expectFailure } from "../../../support/failure.ts";
import { cronKey, jobKey, runOf } from "../../../support/records.ts";
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

const put = (...runs: RunRecord[]) => store.write((tx) => runs.map((run) => tx.runs.put(run)));
const trim = (succeeded: number, failed: number) =>
  store.write((tx) => tx.runs.trim(cronKey, { succeeded, failed }).sort());
const ids = () => store.runs.list(cronKey).map(({ id }) => id);

test("a run comes back whole, with and without its optional fields", async () => {
  const full = runOf("a", { instant: 60_000, reason: "OutOfMemory" });
  const bare = runOf("b", {
    status: "scheduled",
    trigger: "manual",
    startedAt: undefined,
    endedAt: undefined,
    exitCode: undefined,
    error: undefined,
    tail: [],
  });
  expect(await put(full, bare)).toEqual([true, true]);
  expect(store.runs.get("a")).toEqual(full);
  expect(store.runs.get("b")).toEqual(bare);
  expect(store.runs.get("c")).toBeUndefined();
});

test("an update replaces every field and keeps the place in the list", async () => {
  await put(runOf("a", { status: "running", instant: 1 }), runOf("b"));
  const after = runOf("a", {
    status: "failed",
    instant: 2,
    attempt: 3,
    exitCode: 9,
    error: "late",
    reason: "ImagePull",
    tail: ["x"],
  });
  expect(await put(after)).toEqual([true]);
  expect(store.runs.get("a")).toEqual(after);
  expect(ids()).toEqual(["b", "a"]);
  expect(store.runs.list(cronKey, 1).map(({ id }) => id)).toEqual(["b"]);
});

test("an instant of a resource has one run: a second is answered false and not written", async () => {
  await put(runOf("a", { instant: 60_000 }));
  expect(await put(runOf("b", { instant: 60_000 }))).toEqual([false]);
  expect(store.runs.get("b")).toBeUndefined();
  expect(await put(runOf("a", { instant: 60_000, status: "failed" }))).toEqual([true]);
  const others = [runOf("c", { instant: 120_000 }), runOf("d", { instant: 60_000, name: "hourly" })];
  expect(await put(...others)).toEqual([true, true]);
  expect(await put(runOf("c", { instant: 60_000 }))).toEqual([false]);
  expect(store.runs.get("c")?.instant).toBe(120_000);
});

test("runs without an instant never stand in each other's way", async () => {
  expect(await put(runOf("a", jobKey), runOf("b", jobKey))).toEqual([true, true]);
});

test("the last instant is the highest one, and no trim brings it back", async () => {
  expect(store.runs.lastInstant(cronKey)).toBeUndefined();
  await put(runOf("a", { instant: 2 }), runOf("b", { instant: 3 }), runOf("c", { instant: 1 }), runOf("d"));
  await put(runOf("x", { instant: 9, name: "hourly" }));
  expect(store.runs.lastInstant(cronKey)).toBe(3);
  await trim(0, 0);
  expect(ids()).toEqual([]);
  expect(store.runs.lastInstant(cronKey)).toBe(3);
});

test("an instant that was refused or undone does not count as the last one", async () => {
  await put(runOf("a", { instant: 1 }));
  const undone = store.write((tx) => {
    tx.runs.put(runOf("b", { instant: 5 }));
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(store.runs.lastInstant(cronKey)).toBe(1);
});

test("trim keeps the newest successes and the newest of everything else that has ended, and says what went", async () => {
  await put(
    runOf("s1"),
    runOf("f1", { status: "failed" }),
    runOf("s2"),
    runOf("f2", { status: "timed_out" }),
    runOf("f3", { status: "cancelled" }),
    runOf("f4", { status: "missed" }),
    runOf("f5", { status: "skipped" }),
    runOf("u1", { status: "running" }),
    runOf("u2", { status: "scheduled" }),
    runOf("other", { name: "hourly" }),
  );
  expect(await trim(1, 2)).toEqual(["f1", "f2", "f3", "s1"]);
  expect(ids()).toEqual(["u2", "u1", "f5", "f4", "s2"]);
  expect(await trim(1, 2)).toEqual([]);
  expect(await trim(0, 0)).toEqual(["f4", "f5", "s2"]);
  expect(ids()).toEqual(["u2", "u1"]);
  expect(store.runs.get("other")?.name).toBe("hourly");
});

test("unfinished ones of one resource, newest first", async () => {
  await put(
    runOf("a", { status: "scheduled" }),
    runOf("b", { status: "failed" }),
    runOf("c", { status: "running" }),
    runOf("d", { status: "running", name: "other" }),
  );
  expect(store.runs.unfinishedOf(cronKey).map(({ id }) => id)).toEqual(["c", "a"]);
  expect(store.runs.unfinishedOf({ ...cronKey, name: "nobody" })).toEqual([]);
});

test("unfinished ones of all resources, oldest first", async () => {
  await put(runOf("a", { status: "scheduled" }), runOf("b"), runOf("c", { ...jobKey, status: "running" }));
  expect(store.runs.unfinished().map(({ id }) => id)).toEqual(["a", "c"]);
});

test("an id of another resource is refused and nothing is written", async () => {
  await put(runOf("a"));
  const failure = await expectFailure(put(runOf("a", { ...jobKey, exitCode: 5 })), "conflict");
  expect(failure.message).toContain('run id "a"');
  expect(store.runs.get("a")).toEqual(runOf("a"));
});

test("they go with their manifest, the last instant as well", async () => {
  await store.write((tx) => tx.manifests.put({ ...cronKey, kind: "cronjob", spec: {} }, 1));
  await put(runOf("a", { instant: 1 }), runOf("b", { name: "hourly", instant: 1 }));
  await store.write((tx) => tx.manifests.delete(cronKey));
  expect(ids()).toEqual([]);
  expect(store.runs.lastInstant(cronKey)).toBeUndefined();
  expect(store.runs.get("b")?.name).toBe("hourly");
});
