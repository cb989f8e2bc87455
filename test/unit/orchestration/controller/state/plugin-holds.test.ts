import { afterEach, expect, test } from "bun:test";
import { fixtureImage } from "../../../../support/manifests.ts";
import { acting, printing, testPlugins, writePlugin } from "../../../../support/plugins.ts";
import { waitFor } from "../../../../support/wait.ts";
import { type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

/** A plugin whose command runs until a file is there, and whose block is one pod, `data-db.0`. */
let it: World;
const pod = "data-db.0";
const set = {
  kind: "statefulset",
  name: "db",
  spec: { image: fixtureImage, command: ["sleep", "9"], env_from: ["data/db"] },
};
const untilTold = "touch begun; while [ ! -e go ] && [ -e plugin.yml ]; do sleep 0.05; done; rm -f begun go";

async function begin(yml = "name: db\nversion: '1'\n") {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  const answer = acting([{ type: "config_set", scope: "data", name: "db", kv: { RESTORED: "yes" } }]);
  const folder = writePlugin(it.layout, "db", {
    yml,
    commands: { expand: printing({ status: "ok", data: set }), restore: `${untilTold}\n${answer}` },
  });
  await it.apply({ kind: "db", scope: "data", name: "db", spec: {} });
  await it.settle();
  const restore = it.controller.dispatchPlugin(
    { plugin: "db", command: "restore", body: { args: ["data/db"] } },
    { actor: "ana", restart: true },
  );
  await waitFor("the run to begin", () => Bun.file(`${folder}/begun`).exists());
  return { restore, end: () => Bun.write(`${folder}/go`, "") };
}

const idOf = async () => (await it.runtime.inspect(podRef(pod)))?.id;
const stateOf = async () => (await it.runtime.inspect(podRef(pod)))?.state;

afterEach(() => it.close());

test("what a run of its plugin stopped through the engine stays stopped until the run is over, and is then made anew", async () => {
  const { restore, end } = await begin();
  const before = await idOf();
  it.runtime.stopByHand(pod);
  await it.advance(120_000);
  expect(await stateOf()).toBe("exited");
  const { conditions } = await it.status("statefulset", "data", "db");
  expect(conditions?.find(({ type }) => type === "Ready")?.message).toBe(
    '0 of 1 replicas ready; data-db.0 is stopped by a run of the plugin "db", and starts again when that ends',
  );
  // Neither a change of its config nor a look at everything starts it.
  await it.controller.setConfig({ scope: "data", name: "db" }, { A: "1" }, { restart: true, actor: "t" });
  it.running.reconciler.enqueueAll();
  await it.advance(120_000);
  expect([await idOf(), await stateOf()]).toEqual([before, "exited"]);

  await end();
  await restore;
  await it.settle();
  // It was outdated, by the config and by the action of the answer: what was stopped is never started as it was.
  expect(await stateOf()).toBe("running");
  expect(await idOf()).not.toBe(before);
  expect((await it.runtime.inspect(podRef(pod)))?.env).toMatchObject({ A: "1", RESTORED: "yes" });
  expect(it.events("replica.start")).toEqual([]);
});

test("a server that dies takes its runs along: the next one starts the pod", async () => {
  const { restore, end } = await begin();
  // Whoever asked the dead server hears no more of it.
  void restore.catch(() => undefined);
  it.runtime.stopByHand(pod);
  await it.advance(60_000);
  expect(await stateOf()).toBe("exited");
  await it.crash();
  await waitFor("the next server to start the pod", async () => {
    await it.advance(10_000);
    return (await stateOf()) === "running";
  });
  await end();
});

test("a plugin without the engine stops nothing through it: what somebody else stopped is healed", async () => {
  const permissions = "permissions: { actions: [config_set], scopes: ['*'], docker: false }";
  const { restore, end } = await begin(`name: db\nversion: '1'\n${permissions}\n`);
  it.runtime.stopByHand(pod);
  await it.settle();
  expect(await stateOf()).toBe("running");
  await end();
  await restore;
});

test("pods of nobody's block, and those that had ended before the run began, are healed meanwhile", async () => {
  const { restore, end } = await begin();
  await it.apply({ ...set, scope: "data", name: "other" });
  await it.settle();
  it.runtime.stopByHand("data-other.0");
  await it.advance(60_000);
  expect((await it.runtime.inspect(podRef("data-other.0")))?.state).toBe("running");
  await end();
  await restore;
});

test("a run that asks for a restart of what it stopped gets it, and need not end for that", async () => {
  const { restore, end } = await begin();
  const before = await idOf();
  it.runtime.stopByHand(pod);
  await it.advance(10_000);
  const restarted = it.controller.restart(
    { kind: "statefulset", scope: "data", name: "db" },
    { wait: true, actor: "plugin db" },
  );
  await it.advance(60_000);
  expect(await restarted).toMatchObject({ name: "db" });
  expect(await stateOf()).toBe("running");
  expect(await idOf()).not.toBe(before);
  // And stopped again it is held again.
  it.runtime.stopByHand(pod);
  await it.advance(60_000);
  expect(await stateOf()).toBe("exited");
  await end();
  await restore;
});
