import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PluginRunRecord } from "../../../../src/orchestration/store/plugin-records.ts";
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

const run = (id: string, more: Partial<PluginRunRecord> = {}): PluginRunRecord => ({
  id,
  plugin: "redis",
  version: "1",
  command: "info",
  args: ["s/cache"],
  actor: "ana",
  status: "succeeded",
  startedAt: 1,
  endedAt: 2,
  exitCode: 0,
  error: undefined,
  applied: [],
  tail: ["done"],
  ...more,
});

test("a run comes back as it was put, and is replaced by its id", async () => {
  await store.write((tx) =>
    tx.pluginRuns.put(run("a", { status: "running", endedAt: undefined, exitCode: undefined })),
  );
  expect(store.pluginRuns.unfinished().map(({ id }) => id)).toEqual(["a"]);
  await store.write((tx) => tx.pluginRuns.put(run("a", { error: "exit 1", applied: ["run_job s/x"] })));
  expect(store.pluginRuns.unfinished()).toEqual([]);
  expect(store.pluginRuns.list({ limit: 9 })).toEqual([run("a", { error: "exit 1", applied: ["run_job s/x"] })]);
});

test("the newest are kept, and those under way beyond them; a plugin's own can be asked for", async () => {
  await store.write((tx) => {
    tx.pluginRuns.put(run("old", { status: "running" }));
    for (const id of ["a", "b", "c", "d"]) tx.pluginRuns.put(run(id, { plugin: id === "c" ? "pg" : "redis" }));
  });
  expect(store.pluginRuns.list({ limit: 9 }).map(({ id }) => id)).toEqual(["d", "c", "b", "old"]);
  expect(store.pluginRuns.list({ plugin: "pg", limit: 9 }).map(({ id }) => id)).toEqual(["c"]);
  expect(store.pluginRuns.list({ limit: 1 }).map(({ id }) => id)).toEqual(["d"]);
});

test("arguments and what a plugin said are not in the database file in clear", async () => {
  await store.write((tx) => tx.pluginRuns.put(run("a", { args: ["hunter2-args"], tail: ["hunter2-tail"] })));
  store.copyTo(`${at.path}.copy`);
  const bytes = await Bun.file(`${at.path}.copy`).text();
  expect(bytes).toContain("plugin_runs");
  expect(bytes).not.toContain("hunter2");
});
