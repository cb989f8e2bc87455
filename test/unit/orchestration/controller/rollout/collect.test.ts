import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import type { MemoryRuntime } from "../../../../support/memory-runtime.ts";
import { containerSpec } from "../../../../support/container-spec.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let it: World;
afterEach(() => it.close());

const { label } = naming();

/** A running container of ours that no manifest asks for. */
async function orphan(name: string): Promise<void> {
  const labels = { [label.kind]: "deployment", [label.scope]: "lost", [label.name]: name, [label.replicaId]: "abcde" };
  await it.runtime.create(containerSpec({ name: `lost-${name}.abcde`, labels }));
  await it.runtime.start(podRef(`lost-${name}.abcde`));
}

const names = (scope: string) => it.containers().filter((name) => name.startsWith(`${scope}-`));

describe("containers that no manifest asks for", () => {
  test("are collected after their grace, not before, and that is an event", async () => {
    it = await world();
    await it.apply(deployment("shop", "web", { replicas: 3 }));
    await it.settle();
    await orphan("one");
    await it.advance(60_000);
    expect(names("lost")).toHaveLength(1);
    await it.advance(60_000);
    expect(names("lost")).toEqual([]);
    expect(names("shop")).toHaveLength(3);
    expect(it.events("orphan.remove")).toMatchObject([
      {
        actor: "reconciler",
        scope: "lost",
        name: "one",
        detail: { container: "lost-one.abcde", why: "no manifest deployment/lost/one" },
      },
    ]);
  });

  test("are kept when their manifest comes in time", async () => {
    it = await world();
    await orphan("one");
    await it.advance(45_000);
    await it.apply(deployment("lost", "one", { replicas: 1 }));
    await it.settle();
    await it.advance(10 * 60_000);
    expect(names("lost")).toHaveLength(1);
    expect(it.events("orphan.remove")).toEqual([]);
  });

  test("are left alone when they are most of what runs: the store may be the wrong one", async () => {
    it = await world();
    for (const name of ["a", "b", "c"]) await orphan(name);
    await it.apply(deployment("shop", "web"));
    await it.settle();
    await it.advance(60 * 60_000);
    expect(names("lost")).toHaveLength(3);
    const held = it.logged.filter((line) => line.includes("orphans held back"));
    expect(held).toHaveLength(1);
    expect(held[0]).toContain("3 of 4 containers have no manifest");
    await it.apply(deployment("shop", "web", { replicas: 4 }));
    await it.advance(5 * 60_000);
    expect(names("lost")).toEqual([]);
  });

  test("are left alone while a restore is not confirmed", async () => {
    it = await world();
    await it.apply(deployment("shop", "web", { replicas: 3 }));
    await it.settle();
    await it.stop();
    hold(it);
    await it.restart();
    await orphan("one");
    await it.advance(60 * 60_000);
    expect(names("lost")).toHaveLength(1);
    expect((await it.controller.system()).store.collection_held).toBe(true);
  });

  test("one that cannot be removed does not keep the others", async () => {
    let stuck = "";
    it = await world({
      wrapRuntime: (runtime) => ({
        ...runtime,
        remove: async (pod) => {
          if (pod.id === stuck) throw new Failure("conflict", "device or resource busy", { reason: "Other" });
          await runtime.remove(pod);
        },
      }),
    });
    await it.apply(deployment("shop", "web", { replicas: 3 }));
    await orphan("one");
    await orphan("two");
    stuck = it.runtime.containers().find(({ name }) => name === "lost-one.abcde")?.id ?? "";
    await it.advance(5 * 60_000);
    expect(names("lost")).toEqual(["lost-one.abcde"]);
    stuck = "";
    await it.advance(60_000);
    expect(names("lost")).toEqual([]);
  });
});

/** What a restore leaves in the store until it is confirmed. */
function hold({ layout }: World): void {
  const db = new Database(layout.database);
  db.run("insert into meta (key, value) values ('collection_held', '1')");
  db.close();
}

describe("a store that is empty or new", () => {
  test("touches no container of another installation, not even one with the name it wants", async () => {
    it = await world();
    await it.apply([deployment("shop", "web", { replicas: 2 }), statefulset("shop", "db")]);
    await it.settle();
    const { runtime, containers } = it;
    const before = runtime.containers().map(({ id }) => id);
    const other = await world({ wrapRuntime: (own) => asOther(own, runtime) });
    try {
      await other.apply(statefulset("shop", "db"));
      await other.advance(60 * 60_000);
      expect(containers()).toContain("shop-db.0");
      expect(runtime.containers().map(({ id }) => id)).toEqual(before);
      const { last_reconcile_error } = await other.status("statefulset", "shop", "db");
      expect(last_reconcile_error).toBe('cannot create container "shop-db.0": the name is already in use');
    } finally {
      await other.close();
    }
  });
});

/** The machine of one installation as another one sees it: lists and events are its own, names are everybody's. */
function asOther(own: MemoryRuntime, machine: MemoryRuntime): MemoryRuntime {
  const { create, start, stop, remove, rename, inspect, inspectImage, ensureNetwork } = machine;
  return { ...own, create, start, stop, remove, rename, inspect, inspectImage, ensureNetwork };
}
