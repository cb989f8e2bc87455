import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { tokenPrincipal } from "../../src/access/principal.ts";
import type { Maker } from "../../src/orchestration/core/plugins/maker.ts";
import { type Ask, plane } from "../support/plane.ts";
import { acting, printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { fixtureImage } from "../support/manifests.ts";
import { waitFor } from "../support/wait.ts";
import { type World, world } from "../support/world.ts";

/** The plugin `db` lies in the folder by hand; the table says which plugin made the block. */
const own: Maker = { plugin: "db", origin: "folder", source: "" };
const others: Record<string, Maker> = {
  bundled: { plugin: "db", origin: "bundled", source: "" },
  release: { plugin: "db", origin: "release", source: "acme/db" },
  git: { plugin: "db", origin: "git", source: "https://git.test/db" },
  folder: { plugin: "db", origin: "folder", source: "/srv/db" },
  "another name": { plugin: "mydb", origin: "folder", source: "" },
  unknown: { plugin: "db", origin: "unknown", source: "" },
};
const makers = { own, ...others };

const key = { kind: "db", scope: "data", name: "main" };
const block = { ...key, spec: { size: 1 } };
const yml = `name: db
version: "1"
attend: {command: attend, unready: 3s}
commands: [{name: expand}, {name: attend}, {name: info}, {name: stop}, {name: look}]
`;
const set = { kind: "statefulset", name: "main", spec: { image: fixtureImage, command: ["sleep", "9"] } };

let it: World;
let ask: Ask;
let folder: string;
let removed: string[];
const was = (file: string) => existsSync(join(folder, file));
const madeBy = (maker: Maker) => it.store.write((tx) => tx.blocks.setMaker(key, maker));

beforeEach(async () => {
  removed = [];
  it = await world({
    plugins: (layout) =>
      testPlugins(layout, {
        installer: {
          remove: async (name) => {
            removed.push(name);
            return true;
          },
        },
      }),
  });
  ask = plane(it);
  folder = writePlugin(it.layout, "db", {
    yml,
    commands: {
      expand: `touch expanded; ${printing({ status: "ok", data: [set] })}`,
      attend: `touch attended; ${printing({ status: "ok", data: {} })}`,
      info: "touch informed; echo fine",
      stop: acting([{ type: "config_set", scope: "data", name: "main", kv: { A: "1" } }]),
      look: "touch looking; while [ ! -e go ] && [ -e plugin.yml ]; do sleep 0.05; done",
    },
  });
  expect((await ask("POST /apply", block)).status).toBe(200);
  await it.settle();
  await Bun.file(join(folder, "expanded")).delete();
});
afterEach(() => it.close());

const apply = (query = "") => ask(`POST /apply${query}`, { ...block, spec: { size: 2 } });

/** Each door: whether the plugin got through it for the block. */
const doors: Record<string, (isOwn: boolean) => Promise<boolean>> = {
  async expand() {
    const { status, error } = await apply();
    if (status !== 200) expect([status, error]).toEqual([409, expect.stringContaining("apply --replace-plugin")]);
    expect(was("expanded")).toBe(status === 200);
    return status === 200;
  },
  async plan() {
    const { status, data } = await apply("?dry_run=true&prune=true");
    expect([status, data.pruned]).toEqual([200, []]);
    const notes = JSON.stringify(data.plan);
    expect(notes.includes("apply refuses that without --replace-plugin")).toBe(!was("expanded"));
    return was("expanded");
  },
  async command() {
    const { status, error } = await ask("POST /plugin/db/info", { args: ["data/main"] });
    if (status !== 200) expect([status, error]).toEqual([409, expect.stringContaining("runs no command for it")]);
    return was("informed");
  },
  async "command about a pod"() {
    await ask("POST /plugin/db/info", { args: ["--to=data/main.0"] });
    return was("informed");
  },
  async "plugins exec"() {
    await ask("POST /plugins/exec", { args: ["db", "info", "data/main"] });
    return was("informed");
  },
  async attendance(isOwn) {
    await it.restart();
    if (isOwn) {
      await waitFor("the plugin to attend", async () => {
        await it.advance(1_000);
        return was("attended");
      });
    }
    await it.advance(30_000);
    const { runs } = await it.controller.listPluginRuns({ plugin: "db", limit: 100 });
    return runs.some(({ command }) => command === "attend");
  },
  async "callback of a run"() {
    const caller = { ...own, actor: "plugin db", only: undefined, by: undefined };
    try {
      it.running.callbacks.requireOwn(caller, { scope: "data", name: "main" });
      return true;
    } catch {
      return false;
    }
  },
  async "command of a pod"() {
    const pod = (await it.engine.observe()).find(({ name }) => name === "data-main.0");
    const [address = ""] = Object.values(pod?.addresses ?? {});
    const caller = await it.running.callbacks.caller({ address, token: undefined });
    // A pod may always ask about its own block.
    it.running.callbacks.requireOwn(caller, { scope: "data", name: "main" });
    try {
      it.running.callbacks.requireOwnPlugin(caller, "db");
      return true;
    } catch {
      return false;
    }
  },
  async "hold on what a run stops"() {
    const run = ask("POST /plugin/db/look", {});
    await waitFor("the run to begin", () => was("looking"));
    it.runtime.stopByHand("data-main.0");
    await it.advance(120_000);
    const { conditions } = await it.status("statefulset", "data", "main");
    const isHeld = JSON.stringify(conditions).includes("is stopped by a run");
    await Bun.write(join(folder, "go"), "");
    await run;
    return isHeld;
  },
  async status() {
    const { status } = (await ask("GET /describe?kind=db&scope=data&name=main")).data as {
      status: { stranded?: string };
    };
    return status.stranded === undefined;
  },
  async "list of blocks without a plugin"() {
    const { stranded = [] } = (await ask("DELETE /plugins/other")).data as { stranded?: string[] };
    expect(removed).toEqual(["other"]);
    return stranded.every((line) => !line.startsWith("db/data/main: made by "));
  },
};

describe.each(Object.keys(doors))("%s", (door) => {
  test.each(Object.entries(makers))("of a block that was made by: %s", async (name, maker) => {
    await madeBy(maker);
    expect([name, await doors[door]?.(name === "own")]).toEqual([name, name === "own"]);
  });
});

describe("--replace-plugin", () => {
  test("hands the block over, says so in the plan and in the events, and the plugin serves it from then on", async () => {
    await madeBy(others.bundled ?? own);
    const planned = await apply("?dry_run=true&replace_plugin=true");
    expect(planned.data.plan).toMatchObject([
      { ref: "db/data/main", action: "update", notes: [expect.stringContaining("would take it over")] },
      {},
    ]);
    expect(it.store.blocks.get(key)).toMatchObject(others.bundled ?? own);
    expect((await ask("POST /apply?replace_plugin=true", block)).status).toBe(200);
    expect(it.store.blocks.get(key)).toMatchObject(own);
    const detail = { from: 'the bundled plugin "db"', to: 'the plugin "db" that was put into the folder by hand' };
    expect(it.events("block.apply").at(-1)).toMatchObject({ detail });
    expect((await ask("POST /plugin/db/info", { args: ["data/main"] })).status).toBe(200);
  });

  test("takes the rights of the machine", async () => {
    const { controller } = it;
    const by = tokenPrincipal({ scopes: ["actions"], apps: [] });
    const options = { dryRun: false, prune: false, actor: "t", by, replacePlugin: true };
    await expect(controller.apply(block, options)).rejects.toThrow("handing blocks to another plugin");
  });
});

test("blocks of before take the plugin that is there at the upgrade, with an event; without one it stays unknown", async () => {
  await madeBy({ plugin: "db", origin: "unrecorded", source: "" });
  const lost = { ...key, name: "lost", plugin: "gone", version: "1", spec: {} };
  await it.store.write((tx) => tx.blocks.put({ ...lost, origin: "unrecorded", source: "" }, 1));
  await it.running.firstLook(1_000);
  expect(it.store.blocks.get(key)).toMatchObject(own);
  expect(it.store.blocks.get({ ...key, name: "lost" })).toMatchObject({ plugin: "gone", origin: "unknown" });
  expect(it.events("block.maker").map(({ name, detail }) => [name, detail])).toEqual(
    expect.arrayContaining([
      ["main", { plugin: "db", origin: "folder" }],
      ["lost", { plugin: "gone", origin: "unknown" }],
    ]),
  );
});
