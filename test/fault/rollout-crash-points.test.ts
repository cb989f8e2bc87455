import { afterEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { unsettled } from "../support/settled.ts";
import { keyOf, type World, world } from "../support/world.ts";

let it: World | undefined;
afterEach(async () => {
  await it?.close();
  it = undefined;
});

/** Calls that change something: after each of them the server may die. */
const mutating = new Set(["create", "start", "stop", "remove", "rename", "write", "ensureVolume", "removeVolume"]);

interface Scene {
  manifest: (v: string, spec?: Spec) => ReturnType<typeof deployment>;
  key: ReturnType<typeof keyOf>;
  change: (it: World) => Promise<unknown>;
  /** Replicas that have to run all the while. */
  atLeast: number;
  /** What has to run in the end. */
  version: string;
}

const rollout = { min_ready: "2s" };
const app: Scene["manifest"] = (v, spec = {}) =>
  deployment("shop", "web", { replicas: 2, rollout, env: { V: v }, ...spec });
const db: Scene["manifest"] = (v, spec = {}) =>
  statefulset("shop", "db", { replicas: 2, rollout, env: { V: v }, ...spec });
const web = keyOf("deployment", "shop", "web");
const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };

const scenes: Record<string, Scene> = {
  "a rolling deploy": {
    manifest: app,
    key: web,
    change: (it) => it.apply(app("2")),
    atLeast: 2,
    version: "2",
  },
  "a deploy with commands before and after": {
    manifest: app,
    key: web,
    change: (it) => it.apply(app("2", { release: { pre_command: ["a"], command: ["b"], post_command: ["c"] } })),
    atLeast: 2,
    version: "2",
  },
  "a deploy with an init": {
    manifest: app,
    key: web,
    change: (it) => it.apply(app("2", { inits: [{ name: "prepare", command: ["x"] }] })),
    atLeast: 2,
    version: "2",
  },
  "a scale down and up": {
    manifest: (v, spec) => app(v, { replicas: 3, ...spec }),
    key: web,
    change: async (it) => {
      await it.apply(app("1", { replicas: 1 }));
      await it.quiet();
      await it.apply(app("1", { replicas: 2 }));
    },
    atLeast: 1,
    version: "1",
  },
  "a rollback": {
    manifest: app,
    key: web,
    change: async (it) => {
      await it.apply(app("2"));
      await it.advance(1_000);
      const [, good] = it.store.releases.list(web);
      if (good !== undefined)
        await it.controller.rollback({ scope: "shop", name: "web", releaseId: good.id }, { actor: "ana" });
    },
    atLeast: 2,
    version: "1",
  },
  "a restart of a statefulset with volumes": {
    manifest: (v, spec) => db(v, { ...claims, ...spec }),
    key: keyOf("statefulset", "shop", "db"),
    change: (it) => it.apply(db("2", claims)),
    atLeast: 1,
    version: "2",
  },
};

/** Ends every command and init that runs, as if it had worked. */
async function endCommands(it: World): Promise<void> {
  for (const { name, state } of it.runtime.containers()) {
    if (state === "running" && /-release\.|-init-/.test(name)) it.runtime.finish(name, 0);
  }
  await it.quiet();
}

/** Runs the scene, with the server killed right after its call number `killAfter`; returns how many calls there were. */
async function play(scene: Scene, killAfter: number | undefined): Promise<number> {
  let calls = 0;
  let armed = false;
  let least = Number.POSITIVE_INFINITY;
  const commands = new Map<string, number>();
  const kill = () => it?.cutPower();
  it = await world({
    afterCall(method, args) {
      if (!armed || !mutating.has(method)) return;
      calls += 1;
      if (method === "start") note(String(args[0]));
      if (calls === killAfter) kill();
    },
  });
  const machine = it;

  function note(id: string): void {
    const name = machine.runtime.containers().find((container) => container.id === id)?.name ?? "";
    if (name.includes("-release.")) commands.set(name, (commands.get(name) ?? 0) + 1);
  }
  const isReplica = (name: string) => /^shop-(web|db)\.\w{1,5}$/.test(name);
  const replicas = () => machine.runtime.containers().filter(({ name }) => isReplica(name));
  const look = () => {
    const running = replicas().filter(({ state }) => state === "running");
    least = Math.min(least, running.length);
    // So that each is drained before it goes.
    for (const { name } of running) machine.runtime.setConnections(name, { listening: true, established: 0 });
    const sideBySide = machine.runtime
      .containers()
      .filter((c) => c.name.includes("-release.") && c.state === "running");
    expect(sideBySide.length).toBeLessThanOrEqual(1);
  };

  await machine.apply(scene.manifest("1"));
  await machine.settle();
  armed = true;
  // The one who asked may never get an answer.
  void scene.change(machine).catch(() => undefined);
  const atRest = () =>
    machine.hasPower() && unsettled(machine.store).length === 0 && machine.containers().every(isReplica);
  for (let moment = 0; moment < 60 && !(moment > 4 && atRest()); moment++) {
    await machine.quiet();
    if (!machine.hasPower()) await machine.crash();
    look();
    await endCommands(machine);
    await machine.advance(moment % 2 === 0 ? 300 : 1_700);
    look();
  }
  if (!machine.hasPower()) await machine.crash();
  armed = false;
  // What was asked for may have been lost with the server, but not in part.
  const stored = machine.store.manifests.get(scene.key)?.spec.env as { V: string };
  await machine.settle();
  await machine.advance(120_000);
  expect(replicas().map(({ env, state }) => [env.V, state])).toEqual(
    Array.from({ length: replicas().length }, () => [stored.V, "running"]),
  );
  const wanted = Number(machine.store.manifests.get(scene.key)?.spec.replicas);
  expect(replicas()).toHaveLength(wanted);
  expect(machine.containers().filter((name) => !isReplica(name))).toEqual([]);
  expect(machine.store.releases.list(scene.key).map(({ status }) => status)).not.toContain("running");
  expect(machine.store.releases.list(scene.key).map(({ status }) => status)).not.toContain("pending");
  expect([...commands.values()].filter((times) => times > 1)).toEqual([]);
  expect(least).toBeGreaterThanOrEqual(scene.atLeast);
  if (killAfter === undefined) expect(stored.V).toBe(scene.version);
  return calls;
}

/** Whatever call was the last that a server made, the next one brings it to the same end. */
describe("a server that dies after any call", () => {
  for (const [name, scene] of Object.entries(scenes)) {
    test(`of ${name}`, async () => {
      const calls = await play(scene, undefined);
      expect(calls).toBeGreaterThan(5);
      for (let killAfter = 1; killAfter <= calls; killAfter++) {
        await it?.close();
        await play(scene, killAfter).catch((cause) => {
          throw new Error(`killed after call ${killAfter} of ${calls}`, { cause });
        });
      }
    }, 120_000);
  }
});
