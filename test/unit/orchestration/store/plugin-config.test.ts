import { expect, test } from "bun:test";
import { openTestStore, testRoot } from "../../../support/store-root.ts";

const hello = { plugin: "hello", origin: "release", source: "ana/hello" } as const;
const other = { plugin: "hello", origin: "git", source: "https://git.test/hello" } as const;
const bundled = { plugin: "hello", origin: "bundled", source: "" } as const;

test("the config of a plugin is its own, stays when the server starts again, and goes by name", async () => {
  const at = testRoot();
  let store = openTestStore(at);
  try {
    await store.write((tx) => {
      tx.pluginConfig.set(hello, "B", "two", 1);
      tx.pluginConfig.set(hello, "A", "old", 1);
      tx.pluginConfig.set(hello, "A", "one", 2);
      tx.pluginConfig.set(other, "A", "of another", 1);
      tx.pluginConfig.set(bundled, "A", "of the server", 1);
    });
    store.close();
    store = openTestStore(at);
    expect(Object.entries(store.pluginConfig.of(hello))).toEqual([
      ["A", "one"],
      ["B", "two"],
    ]);
    expect(store.pluginConfig.of(other)).toEqual({ A: "of another" });
    expect(store.pluginConfig.of({ ...hello, source: "ana/else" })).toEqual({});
    await store.write((tx) => tx.pluginConfig.unset(hello, "B"));
    expect(store.pluginConfig.of(hello)).toEqual({ A: "one" });
    await store.write((tx) => tx.pluginConfig.forget("hello"));
    expect([hello, other, bundled].map((maker) => store.pluginConfig.of(maker))).toEqual([
      {},
      {},
      { A: "of the server" },
    ]);
  } finally {
    store.close();
    at.remove();
  }
});
