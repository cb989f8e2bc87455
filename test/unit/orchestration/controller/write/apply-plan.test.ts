import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MASK } from "../../../../../src/orchestration/core/mask.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { changesIn, rowsOf } from "../../../../support/rows.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply([
    deployment("shop", "web", { replicas: 2, env: { A: "1" } }),
    statefulset("shop", "db", { replicas: 2 }),
    deployment("shop", "old"),
    { kind: "asset", scope: "shop", name: "conf", spec: { files: { app: "one" } } },
    deployment("shop", "reader", { volumes: ["${asset.conf.app}:/etc/app"] }),
  ]);
  await it.settle();
  it.runtime.calls.length = 0;
});
afterEach(() => it.close());

const idsOf = (name: string) =>
  it.containers().flatMap((at) => (at.startsWith(`shop-${name}.`) ? [at.split(".")[1]] : []));
const dryRun = (...body: Parameters<World["apply"]>[0][]) => it.apply(body.flat(), { dryRun: true });

describe("a dry run", () => {
  test("leaves every row, every file and the machine as they are", async () => {
    const rows = rowsOf(it);
    const files = await it.assets.list();
    await it.apply(
      [
        deployment("shop", "web", { replicas: 5 }),
        deployment("new", "one"),
        { kind: "asset", scope: "shop", name: "conf", spec: { files: { app: "two" } } },
        { kind: "registry", name: "hub", spec: { url: "hub.example.org", username: "ci", token: "t0ken" } },
      ],
      { dryRun: true, prune: true },
    );
    await it.advance(10_000);
    expect(rowsOf(it)).toEqual(rows);
    expect(await it.assets.list()).toEqual(files);
    expect(changesIn(it)).toEqual([]);
    expect(it.logged.join("")).not.toContain("t0ken");
  });

  test("forgets nothing about what it would delete", async () => {
    await it.apply(deployment("shop", "old", { image: "nowhere:1" }));
    await it.quiet();
    const degraded = async () => (await it.controller.listPods({}, { detail: false, spec: false })).degraded;
    expect(await degraded()).toHaveLength(1);
    await it.apply(deployment("shop", "web"), { dryRun: true, prune: true });
    expect(await degraded()).toHaveLength(1);
  });

  test("costs no revision", async () => {
    const before = it.store.manifests.list({ name: "web" })[0]?.revision;
    await dryRun(deployment("shop", "web", { replicas: 5 }));
    expect(it.store.manifests.list({ name: "web" })[0]?.revision).toBe(before);
    expect(
      (await it.apply(deployment("shop", "web", { replicas: 2, env: { A: "1" } }))).applied[0]?.metadata,
    ).toMatchObject({
      revision: before,
    });
  });

  test("pairs what would be stored with what is, masked and without metadata of its own", async () => {
    const hub = (token: string) => ({
      kind: "registry",
      name: "hub",
      spec: { url: "hub.example.org", username: "ci", token },
    });
    await it.apply(hub("t0ken"));
    const { applied, current, dry_run } = await dryRun(hub("n3w"), deployment("shop", "fresh"));
    expect(dry_run).toBe(true);
    expect(applied.map((manifest) => [manifest.name, "metadata" in manifest])).toEqual([
      ["hub", false],
      ["fresh", false],
    ]);
    expect(applied[0]?.spec.token).toBe(MASK);
    expect(current).toEqual([expect.objectContaining({ kind: "registry", name: "hub" }), null]);
    expect(current?.[0]?.spec.token).toBe(MASK);
    expect(current?.[0]?.metadata?.revision).toBeGreaterThan(0);
  });
});

describe("the plan of a dry run", () => {
  const rowsOfPlan = async (body: Parameters<World["apply"]>[0], prune = false) =>
    (await it.apply(body, { dryRun: true, prune })).plan ?? [];

  test("knows create, update, unchanged and delete, and which fields change", async () => {
    const plan = await rowsOfPlan(
      [
        deployment("shop", "web", { replicas: 2, env: { A: "2", B: "1" } }),
        deployment("shop", "fresh"),
        deployment("shop", "reader", { volumes: ["${asset.conf.app}:/etc/app"] }),
      ],
      true,
    );
    expect(plan.map(({ ref, action, changed }) => [ref, action, changed])).toEqual([
      ["deployment/shop/web", "update", ["env.A", "env.B"]],
      ["deployment/shop/fresh", "create", []],
      ["deployment/shop/reader", "unchanged", []],
      ["deployment/shop/old", "delete", []],
    ]);
  });

  test("names the replicas that would be replaced, and why", async () => {
    const [row] = await rowsOfPlan(deployment("shop", "web", { replicas: 2, env: { A: "2" } }));
    expect(row?.replicas.map(({ replica_id }) => replica_id).sort()).toEqual(idsOf("web").map(String));
    for (const replica of row?.replicas ?? []) {
      expect(replica).toMatchObject({ action: "replace", why: "made from another spec" });
    }
  });

  test("of a scale up and of a scale down", async () => {
    const [up] = await rowsOfPlan(deployment("shop", "web", { replicas: 3, env: { A: "1" } }));
    expect(up?.replicas).toEqual([{ action: "create", why: "3 replicas are wanted, 2 exist" }]);
    const [down] = await rowsOfPlan(statefulset("shop", "db", { replicas: 1 }));
    expect(down?.replicas).toEqual([{ replica_id: "1", action: "remove", why: "1 replica is wanted" }]);
    expect(down?.changed).toEqual(["replicas"]);
  });

  test("tells how many replicas go on serving", async () => {
    // Beyond any min_ready.
    await it.advance(60_000);
    const changed = (spec: object) => ({ replicas: 2, env: { A: "2" }, ...spec });
    const servingOf = async (...manifests: Parameters<World["apply"]>[0][]) =>
      (await rowsOfPlan(manifests.flat())).map(({ serving }) => serving);
    expect(await servingOf(deployment("shop", "web", changed({})))).toEqual([{ before: 2, least: 2 }]);
    const oneLess = { rollout: { max_surge: 0, max_unavailable: 1 } };
    expect(await servingOf(deployment("shop", "web", changed(oneLess)))).toEqual([{ before: 2, least: 1 }]);
    const recreated = { rollout: { strategy: "recreate" } };
    expect(await servingOf(deployment("shop", "web", changed(recreated)))).toEqual([{ before: 2, least: 0 }]);
    expect(await servingOf(statefulset("shop", "db", changed({})))).toEqual([{ before: 2, least: 1 }]);
    expect(await servingOf(deployment("shop", "web", { replicas: 3, env: { A: "1" } }))).toEqual([undefined]);
    expect(await servingOf(deployment("shop", "fresh"))).toEqual([undefined]);
  });

  test("names a port that opens, and memory that may be missing", async () => {
    const spec = { resources: { limits: { memory: "64Mi" } }, ports: ["0.0.0.0:8080:80"] };
    await it.close();
    it = await world({ freeMemory: () => 32 * 1024 * 1024 });
    const [row] = await rowsOfPlan(deployment("shop", "fresh", spec));
    expect(row?.notes).toContainEqual("ports: 8080 can be reached from other machines");
    expect(row?.notes).toContainEqual(
      "memory: 1 more replica at the same time may use 64Mi, and 32Mi of this machine are free",
    );
  });

  test("of an unchanged manifest touches nobody", async () => {
    const [row] = await rowsOfPlan(deployment("shop", "web", { replicas: 2, env: { A: "1" } }));
    expect(row).toMatchObject({ action: "unchanged", replicas: [] });
  });

  test("of a prune removes every replica of the sibling", async () => {
    const row = (await rowsOfPlan(deployment("shop", "web"), true)).find(({ ref }) => ref === "deployment/shop/old");
    expect(row?.replicas).toEqual([
      { replica_id: idsOf("old")[0] ?? "", action: "remove", why: "not in this apply (prune)" },
    ]);
  });

  test("shows readers of a changed asset, although they are not in the apply", async () => {
    const { applied, current, plan } = await dryRun({
      kind: "asset",
      scope: "shop",
      name: "conf",
      spec: { files: { app: "two" } },
    });
    expect([applied.length, current?.length]).toEqual([1, 1]);
    const reader = plan?.find(({ ref }) => ref === "deployment/shop/reader");
    expect(reader?.changed).toEqual(['_asset_digests["conf.app"]']);
    expect(reader?.replicas.map(({ action }) => action)).toEqual(["replace"]);
  });

  test("says which strategy it takes and what is stored only", async () => {
    const [row] = await rowsOfPlan(deployment("shop", "fresh", { ports: ["80:80"], health_check: "/up" }));
    expect(row?.notes.join("\n")).toMatch(/^strategy recreate: host port 80 is fixed/);
    expect(row?.notes.join("\n")).toContain("health_check: stored");
  });

  test("does not warn of release commands where the last release failed: this apply runs them", async () => {
    const broken = (command: string) => deployment("shop", "fresh", { release: { command: [command] } });
    await it.apply(broken("one"));
    await it.quiet();
    const [command] = it.runtime.containers().filter(({ name }) => name.startsWith("shop-fresh-release."));
    it.runtime.finish(command?.name ?? "", 1);
    await it.quiet();
    const [row] = await rowsOfPlan(broken("two"));
    expect(row).toMatchObject({ action: "update", notes: [] });
  });

  test("warns of release commands that start nothing, and of webhooks that are not sent", async () => {
    const notesOf = async (more: Record<string, unknown>) =>
      (await rowsOfPlan(deployment("shop", "web", { replicas: 2, env: { A: "1" }, ...more })))[0]?.notes ?? [];
    expect(await notesOf({ release: { command: ["migrate"] } })).toEqual([
      "release: changed alone it starts no release; it counts from the next one on, or with: berth release run",
    ]);
    expect(await notesOf({ env: { A: "2" }, release: { command: ["migrate"] } })).toEqual([]);
    expect(await notesOf({ on_deploy: { failure: [{ url: "http://localhost:9/x" }] } })).toEqual([
      'on_deploy.failure: "localhost" is not a public address, so nothing is sent; see berth serve --help',
    ]);
    expect((await notesOf({ docker_options: ["--privileged"] })).join()).toContain("docker_options: --privileged");
  });

  test("warns of nothing where nothing changes", async () => {
    const open = deployment("shop", "open", { docker_options: ["--privileged"] });
    await it.apply(open);
    expect((await rowsOfPlan(open))[0]).toMatchObject({ action: "unchanged", notes: [] });
  });

  test("does not warn of webhooks that the server is allowed to send", async () => {
    const allowed = await world({ privateWebhooks: true });
    const hooked = deployment("shop", "web", { on_deploy: { failure: [{ url: "http://127.0.0.1:9/x" }] } });
    const { plan } = await allowed.apply([hooked], { dryRun: true });
    await allowed.close();
    expect(plan?.[0]?.notes).toEqual([]);
  });

  test("leaves frozen replicas alone", async () => {
    const [first] = idsOf("web");
    await it.controller.stopPod(`shop-web.${first}`, { freeze: true, actor: "test" });
    await it.settle();
    const [row] = await rowsOfPlan(deployment("shop", "web", { replicas: 2, env: { A: "2" } }));
    expect(row?.replicas.map(({ replica_id }) => replica_id)).toEqual(idsOf("web").slice(1).map(String));
  });

  test("of what is not running yet has no replicas to name but new ones", async () => {
    it.runtime.engineDown();
    await it.quiet();
    const [row] = await rowsOfPlan(deployment("shop", "fresh", { replicas: 2 }));
    expect(row?.replicas.map(({ action }) => action)).toEqual(["create", "create"]);
  });
});
