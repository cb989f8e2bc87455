import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { cronjob, deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

/** What the readiness probes are answered. */
let status = 200;
let it: World;
let changes = 0;
beforeEach(async () => {
  status = 200;
  it = await world({ fetch: async () => new Response("", { status }) });
  follow();
});
afterEach(() => it.close());

function follow() {
  changes = 0;
  it.running.endpoints.subscribe(() => changes++);
}

const list = () => it.running.endpoints.list() ?? [];
/** How often the list was said to have changed while `work` was done. */
async function changesIn(work: () => Promise<unknown>) {
  const before = changes;
  await work();
  return changes - before;
}
const probes = { readiness: { http_get: { path: "/", port: 80 }, period: "5s", failure_threshold: 1 } };
const rollout = { min_ready: "0s" };
const web = (spec: Spec = {}) => deployment("shop", "web", { rollout, ports: ["80", "443", "53/udp"], ...spec });
const containers = () => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));

/** The app is newer than the state: as after the restore of a backup from before it. */
async function forgetApp(): Promise<void> {
  await it.stop();
  const db = new Database(it.layout.database);
  db.run("insert into meta (key, value) values ('collection_held', 'restored')");
  db.close();
  const key = keyOf("deployment", "shop", "web");
  await it.store.write((tx) => tx.manifests.delete(key));
  await it.restart();
}

describe("the list of endpoints", () => {
  test("has the port that the ingress led to when the container was made, where its spec is not on record", async () => {
    const site = { kind: "ingress" as const, scope: "shop", name: "web", spec: { host: "a.test" } };
    await it.apply([web({ ports: ["8080"] }), site]);
    await it.settle();
    await forgetApp();
    expect(list().map(({ ports }) => ports)).toEqual([[8080]]);
    status = 503;
    await it.apply(
      web({ ports: ["9000"], probes: { readiness: { ...probes.readiness, http_get: { path: "/", port: 81 } } } }),
    );
    await it.advance(20_000);
    expect(list().map(({ ports }) => ports)).toContainEqual([8080, 9000]);
  });

  test("has the ports and probes of a replica whose app is applied again after a restore that did not know it", async () => {
    await it.apply(web({ probes }));
    await it.settle();
    await forgetApp();
    // Docker starts it again: nobody knows its probes now.
    for (const { id } of containers()) it.runtime.crash(id, 1);
    await it.advance(60_000);
    expect(list().map(({ ports }) => ports)).toEqual([[]]);
    // The new replica does not come up, so the old one stays.
    status = 503;
    await it.apply(web({ probes }));
    await it.advance(20_000);
    expect(list().map(({ ports, ready }) => [ports, ready])).toEqual([
      [[80, 443], false],
      [[80, 443], false],
    ]);
  });

  test("names every replica that runs, where it is reached, and whether it is ready", async () => {
    await it.apply([
      web(),
      statefulset("shop", "db", { replicas: 2, ports: ["5432"] }),
      deployment("shop", "beside", { network_mode: "host" }),
      deployment("shop", "apart", { network_mode: "none" }),
    ]);
    await it.settle();
    const addressOf = (id: string) => it.runtime.containers().find((one) => one.id === id)?.networks.berth0?.ipAddress;
    const common = { scope: "shop", node: "local", ready: true, leaving: false, ports: [] };
    const unknown = { id: expect.any(String), replica: expect.any(String) };
    expect(list()).toEqual([
      { ...common, ...unknown, kind: "deployment", name: "apart", ip: undefined },
      { ...common, ...unknown, kind: "deployment", name: "beside", ip: "127.0.0.1" },
      { ...common, ...unknown, kind: "deployment", name: "web", ip: expect.any(String), ports: [80, 443] },
      {
        ...common,
        ...unknown,
        kind: "statefulset",
        name: "db",
        ip: expect.any(String),
        ports: [5432],
        replica: "0",
        ordinal: 0,
      },
      {
        ...common,
        ...unknown,
        kind: "statefulset",
        name: "db",
        ip: expect.any(String),
        ports: [5432],
        replica: "1",
        ordinal: 1,
      },
    ]);
    for (const { id, ip } of list().slice(2)) expect(ip).toBe(addressOf(id));
  });

  test("is not known before the engine was asked, and empty once it was", async () => {
    const dark = await world({ engineDown: true });
    expect(dark.running.endpoints.list()).toBeUndefined();
    dark.runtime.engineUp();
    await dark.advance(3_000);
    expect(dark.running.endpoints.list()).toEqual([]);
    await dark.close();
  });

  test("stays as it was while the engine is away, and is the same after a restart of the server", async () => {
    await it.apply(web({ replicas: 2, probes }));
    await it.settle();
    const before = list();
    expect(before).toHaveLength(2);
    it.runtime.engineDown();
    await it.advance(10_000);
    expect(list()).toEqual(before);
    it.runtime.engineUp();
    await it.advance(3_000);
    await it.restart();
    expect(list()).toEqual(before);
  });

  test("keeps the ports of the spec that a container was made from until it is replaced", async () => {
    await it.apply(web({ probes }));
    await it.settle();
    status = 503;
    await it.apply(web({ probes, ports: ["9000"] }));
    await it.advance(4_000);
    expect(list().map(({ ports }) => ports)).toContainAllValues([[80, 443], [9000]]);
  });

  test("names no one-off container and no run of a job", async () => {
    await it.apply(cronjob("shop", "tick"));
    await it.advance(61_000);
    expect(it.runtime.containers().filter(({ state }) => state === "running")).not.toEqual([]);
    expect(list()).toEqual([]);
  });
});

describe("changes", () => {
  test("a replica that dies vanishes at once, and is back at its new address", async () => {
    await it.apply(web());
    await it.settle();
    const [before] = list();
    const seen: (string | undefined)[][] = [];
    it.running.endpoints.subscribe(() => seen.push(list().map(({ ip }) => ip)));
    it.runtime.kill(containers()[0]?.name ?? "");
    await it.quiet();
    await it.settle();
    expect(seen[0]).toEqual([]);
    const [after] = list();
    expect(seen.at(-1)).toEqual([after?.ip]);
    expect(after?.ip).toBe(containers()[0]?.networks.berth0?.ipAddress);
    expect(after?.ip).not.toBe(before?.ip);
  });

  test("one that the engine restarts is never listed at the address of before", async () => {
    await it.apply(web());
    await it.settle();
    const before = list()[0]?.ip;
    const seen: (string | undefined)[] = [];
    it.running.endpoints.subscribe(() => seen.push(...list().map(({ ip }) => ip)));
    it.runtime.crash(containers()[0]?.name ?? "");
    await it.advance(1_000);
    expect(seen).not.toContain(before);
    expect(list()[0]?.ip).toBe(containers()[0]?.networks.berth0?.ipAddress);
  });

  test.each([{}, { probes }])(
    "one that the engine restarts is back while its resource is busy, with %j",
    async (spec) => {
      // Without a surge the resource is busy with a drain, and nothing goes on beside it.
      const rollout = { min_ready: "0s", max_surge: 0, max_unavailable: 1 };
      await it.apply(web({ replicas: 2, rollout, env: { V: "1" }, ...spec }));
      await it.settle();
      for (const { id } of list()) it.runtime.setConnections(id, { listening: true, established: 1 });
      await it.apply(web({ replicas: 2, rollout, env: { V: "2" }, ...spec }));
      await it.advance(5_000);
      const staying = list().find(({ leaving, ready }) => ready && !leaving)?.id ?? "";
      expect(list().filter(({ leaving }) => leaving)).toHaveLength(1);
      it.runtime.crash(staying);
      await it.quiet();
      const back = list().find(({ id }) => id === staying);
      expect(back?.ip).toBe(it.runtime.containers().find(({ id }) => id === staying)?.networks.berth0?.ipAddress);
      await it.advance(5_000);
      expect(list().find(({ id }) => id === staying)).toMatchObject({ ready: true });
      expect(list().filter(({ leaving }) => leaving)).toHaveLength(1);
    },
  );

  test("each edge of readiness is told", async () => {
    await it.apply(web({ probes }));
    await it.settle();
    expect(list()[0]?.ready).toBe(true);
    status = 503;
    expect(await changesIn(() => it.advance(6_000))).toBe(1);
    expect(list()[0]).toMatchObject({ ready: false, leaving: false });
    status = 200;
    expect(await changesIn(() => it.advance(6_000))).toBe(1);
    expect(list()[0]?.ready).toBe(true);
  });

  test("a quiet time is told nothing of", async () => {
    await it.apply(web({ probes }));
    await it.settle();
    await it.advance(10_000);
    expect(await changesIn(() => it.advance(120_000))).toBe(0);
  });

  test("a replica that a rollout takes out leaves while its connections end, with the new one ready beside it", async () => {
    await it.apply(web({ env: { V: "1" } }));
    await it.settle();
    const old = list()[0]?.id ?? "";
    it.runtime.setConnections(old, { listening: true, established: 1 });
    const seen: string[] = [];
    it.running.endpoints.subscribe(() => {
      seen.push(
        list()
          .map(
            ({ id, ready, leaving }) =>
              `${id === old ? "old" : "new"}${ready ? " ready" : ""}${leaving ? " leaving" : ""}`,
          )
          .sort()
          .join(", "),
      );
    });
    await it.apply(web({ env: { V: "2" } }));
    await it.advance(5_000);
    expect(list()).toHaveLength(2);
    await it.settle();
    expect([...new Set(seen)]).toEqual(["new ready, old ready", "new ready, old leaving", "new ready"]);
  });

  test("a pod that is frozen leaves, and is gone", async () => {
    await it.apply(web());
    await it.settle();
    const { name } = containers()[0] ?? { name: "" };
    const seen: string[] = [];
    it.running.endpoints.subscribe(() =>
      seen.push(
        list()
          .map(({ leaving }) => (leaving ? "leaving" : "in"))
          .join(),
      ),
    );
    await it.controller.stopPod(name, { freeze: true, actor: "test" });
    expect(seen[0]).toBe("leaving");
    expect(list()).toEqual([]);
    await it.settle();
    expect(seen).not.toContain("in");
  });

  test("whoever has left is told no more, and one that throws stops no other", async () => {
    let told = 0;
    const leave = it.running.endpoints.subscribe(() => {
      told++;
      throw new Error("listener bug");
    });
    expect(
      await changesIn(async () => {
        await it.apply(web());
        await it.settle();
      }),
    ).toBeGreaterThan(0);
    expect(told).toBeGreaterThan(0);
    expect(it.logged.join()).toContain("listener bug");
    leave();
    told = 0;
    await it.apply(web({ replicas: 2 }));
    await it.settle();
    expect(told).toBe(0);
  });
});
