import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { testEpoch } from "../../../../support/fake-clock.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply([
    deployment("shop", "web", { replicas: 2, post_deploy: ["true"] }),
    statefulset("shop", "db", { volume_claims: [{ name: "data", mount_path: "/data" }] }),
    deployment("blog", "web"),
    { kind: "ingress", scope: "shop", name: "web", spec: { host: "shop.example.org" } },
    { kind: "registry", name: "hub", spec: { url: "hub.example.org", username: "ci", token: "t" } },
  ]);
  await it.settle();
});
afterEach(() => it.close());

const conditionOf = (status: Record<string, unknown> | null, type: string) =>
  ((status?.conditions ?? []) as { type: string }[]).find((condition) => condition.type === type);

describe("a description", () => {
  test("holds manifest, status and pods", async () => {
    const { manifest, status, pods, ...rest } = await it.describe("deployment", "shop", "web");
    expect(manifest).toMatchObject({ kind: "deployment", scope: "shop", name: "web", metadata: { revision: 1 } });
    expect(status).toMatchObject({
      phase: "ready",
      replicas: 2,
      ready_replicas: 2,
      updated_replicas: 2,
      frozen_replicas: 0,
      observed_revision: 1,
      releases: [{ status: "succeeded", cause: "apply", revision: 1 }],
      init_failures: [],
      last_reconcile_at: new Date(testEpoch).toISOString(),
    });
    expect(conditionOf(status, "Ready")).toMatchObject({ status: true, reason: "ReplicasReady" });
    expect(status).not.toHaveProperty("last_reconcile_error");
    expect(pods).toHaveLength(2);
    expect(Object.keys((status?.replica_readiness ?? {}) as object).sort()).toEqual(
      pods.map(({ name }) => name).sort(),
    );
    expect(rest).toEqual({});
  });

  test("of a statefulset holds its volumes, those of scaled-down ordinals too", async () => {
    await it.apply(statefulset("shop", "db", { replicas: 0, volume_claims: [{ name: "data", mount_path: "/data" }] }));
    await it.settle();
    const { volumes, pods } = await it.describe("statefulset", "shop", "db");
    expect([volumes, pods]).toEqual([["berth-shop-db-data-0"], []]);
  });

  test("says what of the manifest this version keeps without acting on it", async () => {
    expect((await it.status("deployment", "shop", "web")).warnings?.join()).toContain("post_deploy: stored");
    const { status, pods } = await it.describe("ingress", "shop", "web");
    expect(status).toMatchObject({
      phase: "stored",
      data: { host: "shop.example.org", url: "http://shop.example.org" },
    });
    expect(status).not.toHaveProperty("warnings");
    expect(pods).toEqual([]);
  });

  test("of an ingress says how it is served now, as the list does", async () => {
    let why: string | undefined;
    await it.close();
    it = await world({
      ingressServed: () => (why === undefined ? { phase: "ready" } : { phase: "failing", why }),
    });
    await it.apply({ kind: "ingress", scope: "shop", name: "web", spec: { host: "shop.example.org" } });
    await it.settle();
    const seen = async () => (await it.describe("ingress", "shop", "web")).status ?? undefined;
    const listed = () => it.controller.listManifests({}, { blocks: false, status: true })[0]?.status;
    expect(await seen()).toMatchObject({ phase: "ready", data: { host: "shop.example.org" } });
    expect(await seen()).not.toHaveProperty("last_reconcile_error");
    expect(listed()).toEqual(await seen());
    why = "not served: disk full";
    expect(await seen()).toMatchObject({ phase: "failing", last_reconcile_error: why });
    expect(listed()).toEqual(await seen());
  });

  test("takes kinds in any spelling and finds the scope by itself", async () => {
    expect((await it.controller.describe({ kind: "Statefulsets", name: "db" })).manifest.scope).toBe("shop");
    expect((await it.controller.describe({ kind: "app", scope: "shop", name: "web" })).manifest.kind).toBe(
      "deployment",
    );
    expect((await it.controller.describe({ kind: "registry", name: "hub" })).manifest).not.toHaveProperty("scope");
  });

  test.each([
    ["no kind", { name: "web" }, "invalid", "kind is required"],
    ["no name", { kind: "deployment" }, "invalid", "name is required"],
    ["an unknown kind", { kind: "thing", name: "web" }, "invalid", 'unknown kind "thing"; kinds are'],
    ["a name in two scopes", { kind: "deployment", name: "web" }, "invalid", "exists in several scopes: blog, shop"],
    [
      "what is not stored",
      { kind: "deployment", scope: "shop", name: "nobody" },
      "not_found",
      "deployment/shop/nobody not found",
    ],
    ["what is not stored anywhere", { kind: "deployment", name: "nobody" }, "not_found", "deployment/nobody not found"],
  ] as const)("of %s is refused", async (_what, target, code, text) => {
    expect((await expectFailure(it.controller.describe(target), code)).message).toContain(text);
  });

  test("with the engine down still shows manifest, status and what was last seen, and says so", async () => {
    await it.advance(5_000);
    it.runtime.engineDown();
    await it.quiet();
    const { manifest, status, pods, volumes, errors } = await it.describe("statefulset", "shop", "db");
    expect([manifest.name, pods.length, volumes]).toEqual(["db", 1, ["berth-shop-db-data-0"]]);
    expect(conditionOf(status, "Degraded")).toMatchObject({
      status: true,
      reason: "EngineUnavailable",
      at: new Date(testEpoch + 5_000).toISOString(),
    });
    expect(errors).toEqual([expect.stringMatching(/^pods: /), expect.stringMatching(/^volumes: /)]);
  });

  test("names what of it could not be collected", async () => {
    it.runtime.fail("listVolumes", new Failure("timeout", "the engine took too long"), 1);
    const { errors, pods } = await it.describe("statefulset", "shop", "db");
    expect([errors, pods.length]).toEqual([["volumes: the engine took too long"], 1]);
  });

  test("says that what was applied again is still being torn down", async () => {
    it.runtime.engineDown();
    await it.quiet();
    const deleting = it.controller.deleteManifest({ kind: "statefulset", name: "db" }, { prune: true, actor: "ana" });
    await it.quiet();
    await it.apply(statefulset("shop", "db", { volume_claims: [{ name: "data", mount_path: "/data" }] }));
    await it.quiet();
    const { status } = await it.describe("statefulset", "shop", "db");
    expect(status).toMatchObject({ deleting: true });
    it.runtime.engineUp();
    await it.settle();
    await it.advance(61_000);
    await deleting;
    expect((await it.describe("statefulset", "shop", "db")).status).not.toHaveProperty("deleting");
  });
});

describe("the list of manifests", () => {
  test("is ordered by kind, scope and name, and filtered", () => {
    const list = (filter = {}) =>
      it.controller.listManifests(filter).map(({ kind, scope, name }) => `${kind} ${scope} ${name}`);
    expect(list()).toEqual([
      "deployment blog web",
      "deployment shop web",
      "ingress shop web",
      "registry undefined hub",
      "statefulset shop db",
    ]);
    expect(list({ kind: "Deployments", scope: "shop" })).toEqual(["deployment shop web"]);
    expect(list({ name: "web", scope: "nowhere" })).toEqual([]);
  });

  test("tells how each is where that is asked for, and is what can be applied again where not", async () => {
    await it.settle();
    const [plain] = it.controller.listManifests({ name: "db" });
    expect(plain).not.toHaveProperty("status");
    const [told] = it.controller.listManifests({ name: "db" }, { blocks: false, status: true });
    expect(told?.status).toMatchObject({ phase: "ready" });
  });

  test("refuses an unknown kind", async () => {
    const error = await expectFailure((async () => it.controller.listManifests({ kind: "thing" }))(), "invalid");
    expect(error.message).toContain('unknown kind "thing"; kinds are deployment, statefulset');
  });
});

describe("the event log", () => {
  test("pages from a sequence number on, filtered, oldest first", () => {
    const { events } = it.controller.events({ limit: 1_000, scope: "shop" });
    expect(events.every(({ scope }) => scope === "shop")).toBe(true);
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    const [first = 0, second = 0, third = 0] = seqs;
    expect(it.controller.events({ limit: 2, scope: "shop", after: first }).events.map(({ seq }) => seq)).toEqual([
      second,
      third,
    ]);
    expect(it.controller.events({ limit: 1 }).events[0]?.seq).toBeGreaterThanOrEqual(seqs.at(-1) ?? 0);
  });

  test("never answers with more than a page", async () => {
    await it.close();
    it = await world({ limits: { eventsPageMax: 3 } });
    await it.apply([deployment("a", "a"), deployment("a", "b"), deployment("a", "c"), deployment("a", "d")]);
    expect(it.controller.events({ limit: 1_000 }).events).toHaveLength(3);
  });

  test("tells what the reconciler did, and why", async () => {
    const [name = ""] = it.containers().filter((at) => at.startsWith("shop-web."));
    it.runtime.kill(name);
    await it.settle();
    const { events } = it.controller.events({ limit: 1, kind: "deployment", scope: "shop", name: "web" });
    expect(events).toEqual([
      {
        seq: expect.any(Number),
        at: expect.any(String),
        actor: "reconciler",
        action: "replica.start",
        kind: "deployment",
        scope: "shop",
        name: "web",
        detail: { replica_id: name.split(".")[1], why: "it stopped with exit code 137" },
      },
    ]);
  });
});

describe("the system report", () => {
  test("shows engine, store and reconciler", async () => {
    await it.apply(deployment("shop", "broken", { image: "nowhere:1" }));
    await it.quiet();
    const report = await it.controller.system();
    expect(report).toMatchObject({
      version: "test",
      installation: it.store.installationId,
      prefix: "berth",
      root: it.layout.root,
      engine: { up: true, host: "memory", version: "memory", api_version: "1.41", live_restore: true },
      store: { manifests: 6, collection_held: false },
      reconciler: { queued: 0, failing: 1 },
    });
    expect(report.engine.free_bytes).toBeGreaterThan(0);
  });

  test("says since when and why the engine is down", async () => {
    await it.advance(5_000);
    it.runtime.engineDown();
    await it.quiet();
    expect((await it.controller.system()).engine).toMatchObject({
      up: false,
      since: new Date(testEpoch + 5_000).toISOString(),
      error: "the engine cannot be reached; start it",
    });
  });

  test("comes also when the engine fails the very question", async () => {
    it.runtime.fail("freeBytes", new Failure("timeout", "too slow"), 1);
    expect((await it.controller.system()).engine).not.toHaveProperty("free_bytes");
  });
});
