import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let ask: Ask;
let removed: string[];
beforeEach(async () => {
  removed = [];
  it = await world({
    plugins: (layout) =>
      testPlugins(layout, {
        defaultRepo: () => "owner/berth-cache",
        installer: {
          async install() {
            writePlugin(layout, "cache", {
              yml: 'name: cache\nversion: "1.0"\n',
              commands: { expand: printing([statefulset("data", "main")]) },
            });
            const { registry } = testPlugins(layout);
            await registry.refresh();
            const found = registry.find("cache");
            if (found === undefined) throw new Error("the plugin was not written");
            return { ...found, warnings: [] };
          },
          async remove(name) {
            removed.push(name);
            rmSync(join(layout.plugins, name), { recursive: true });
            return true;
          },
        },
      }),
  });
  ask = plane(it);
});
afterEach(() => it.close());

const block = { kind: "cache", scope: "data", name: "main", spec: {} };
const asset = { kind: "asset", scope: "data", name: "page", spec: { files: { index: "text" } } };
const wrong = deployment("data", "web", { volumes: ["${asset.missing.index}:/x:ro"] });

test("an apply that is refused takes back the plugin that it brought, and its files", async () => {
  const { status } = await ask("POST /apply", [asset, block, wrong]);
  expect(status).toBe(400);
  expect(removed).toEqual(["cache"]);
  expect(await it.assets.list()).toEqual([]);
  expect((await ask("GET /plugins")).data.plugins).toEqual([]);
  expect(it.events("plugin.remove")).toMatchObject([{ detail: { plugin: "cache", version: "1.0" } }]);
});

test("an apply that is stored keeps both", async () => {
  expect((await ask("POST /apply", [asset, block])).status).toBe(200);
  expect(removed).toEqual([]);
  expect(await it.assets.list()).toHaveLength(1);
  expect((await ask("POST /apply", [block, wrong])).status).toBe(400);
  expect(removed).toEqual([]);
});
