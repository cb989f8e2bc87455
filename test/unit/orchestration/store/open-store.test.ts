import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { secret } from "../../../../src/base/words/secret.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
beforeEach(() => {
  at = testRoot();
});
afterEach(() => at.remove());

const web = { kind: "deployment" as const, scope: "shop", name: "web" };

test("the installation id is made once", () => {
  const first = openTestStore(at);
  const { installationId } = first;
  first.close();
  const second = openTestStore(at);
  expect(installationId).toMatch(/^[0-9a-f]{16}$/);
  expect(second.installationId).toBe(installationId);
  second.close();
});

test("a second store on the same root is refused with the pid, and the first goes on", async () => {
  const store = openTestStore(at);
  expect(() => openTestStore(at)).toThrow(`root "${at.root}" is in use by pid ${process.pid}`);
  await store.write((tx) => tx.manifests.put({ ...web, spec: {} }, 1));
  store.close();
});

test("another key is refused, and the lock is not kept by the failure", () => {
  openTestStore(at).close();
  expect(() => openTestStore(at, { key: secret<Uint8Array>(new Uint8Array(32).fill(9)) })).toThrow(
    `the key file does not fit database "${at.path}"`,
  );
  openTestStore(at).close();
});

test("close writes what waits, gives the lock back and leaves one file", async () => {
  const store = openTestStore(at);
  const pending = store.write((tx) => tx.manifests.put({ ...web, spec: {} }, 1));
  store.close();
  expect((await pending).outcome).toBe("created");
  expect(readdirSync(at.root).sort()).toEqual(["run", "state.db"]);
  const again = openTestStore(at);
  expect(again.manifests.count()).toBe(1);
  again.close();
});

test("writing to a closed store fails instead of hanging", async () => {
  const store = openTestStore(at);
  store.close();
  await expect(store.write(() => 1)).rejects.toThrow("the store is closed");
});

test("a listener that throws is told to the owner and stops neither the writer nor other listeners", async () => {
  const faults: unknown[] = [];
  const store = openTestStore(at, { onListenerError: (error) => faults.push(error) });
  const heard: number[] = [];
  store.subscribe(() => {
    throw new Error("listener");
  });
  const leave = store.subscribe((keys) => heard.push(keys.length));
  await store.write((tx) => tx.manifests.touch(web));
  leave();
  await store.write((tx) => tx.manifests.touch(web));
  expect(heard).toEqual([1]);
  expect(faults).toHaveLength(2);
  store.close();
});

test("check says ok on a sound database", () => {
  const store = openTestStore(at);
  expect(store.check()).toBe("ok");
  expect(store.collectionHeld).toBe(false);
  store.close();
});
