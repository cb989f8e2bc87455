import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mapSecrets } from "../../../../src/orchestration/core/mask.ts";
import { deliveryOf, releaseOf } from "../../../support/records.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../support/store-root.ts";

/** Every file of the root, the write-ahead log included. */
function filesHolding(at: TestRoot, text: string): string[] {
  const files = readdirSync(at.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name)).filter((path) => readFileSync(path).includes(text));
}

test("no secret is in any file of the root, and what is no secret is", async () => {
  const at = testRoot();
  const store = openTestStore(at, { mapSecrets });
  try {
    const hooks = (token: string) => ({ success: [{ url: "https://hooks.test", headers: { Authorization: token } }] });
    await store.write((tx) => {
      const registry = { url: "registry.test", token: "hush-registry", password: "hush-password" };
      tx.manifests.put({ kind: "registry", scope: "", name: "hub", spec: registry }, 1);
      const spec = { image: "open-manifest", on_deploy: hooks("hush-hook") };
      tx.manifests.put({ kind: "deployment", scope: "shop", name: "web", spec }, 1);
      tx.config.patch("shop", "web", { KEY: "hush-config" }, { now: 1 });
      const maker = { plugin: "hello", origin: "release", source: "ana/hello" } as const;
      tx.pluginConfig.set(maker, "KEY", "hush-plugin-config", 1);
      const released = { image: "open-release", on_deploy: hooks("hush-release") };
      tx.releases.put(releaseOf("r1", { spec: released }));
      tx.deliveries.put(deliveryOf("d1", { headers: { "X-Key": "hush-delivery" }, body: "open-body" }));
    });
    for (const text of ["open-manifest", "open-release", "open-body"]) expect(filesHolding(at, text)).not.toEqual([]);
    expect(filesHolding(at, "hush-")).toEqual([]);
    expect(JSON.stringify(store.releases.get("r1")?.spec)).toContain("hush-release");
    store.close();
    expect(filesHolding(at, "open-release")).toEqual([at.path]);
    expect(filesHolding(at, "hush-")).toEqual([]);
  } finally {
    at.remove();
  }
});
