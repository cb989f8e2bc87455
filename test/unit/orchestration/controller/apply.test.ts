import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { MASK } from "../../../../src/orchestration/core/mask.ts";
import { expectFailure } from "../../../support/failure.ts";
import { deployment, fixtureImage, statefulset } from "../../../support/manifests.ts";
import { changesIn, rowsOf } from "../../../support/rows.ts";
import { testEpoch } from "../../../support/fake-clock.ts";
import { keyOf, type World, world } from "../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const web = keyOf("deployment", "shop", "web");
const registry = (spec = {}) => ({
  kind: "registry",
  name: "hub",
  spec: { url: "registry.example.org", username: "ci", token: "t0ken", ...spec },
});
const ingress = (name: string, host: string) => ({ kind: "ingress", scope: "shop", name, spec: { host } });

describe("an apply", () => {
  test("answers with what is stored, in the order given, and says who did it", async () => {
    const result = await it.apply([deployment("shop", "web"), statefulset("shop", "db"), registry()]);
    expect(result.applied.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "deployment web",
      "statefulset db",
      "registry hub",
    ]);
    expect(result.pruned).toEqual([]);
    expect(result).not.toHaveProperty("dry_run");
    expect(result).not.toHaveProperty("current");
    const revisions = result.applied.map(({ metadata }) => metadata?.revision ?? 0);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(it.controller.listManifests({})).toEqual(expect.arrayContaining(result.applied));
    expect(it.events("manifest.apply").map(({ actor, name, detail }) => [actor, name, detail?.outcome])).toEqual([
      ["test", "web", "created"],
      ["test", "db", "created"],
      ["test", "hub", "created"],
    ]);
  });

  test("takes kinds in any spelling and stores one", async () => {
    await it.apply({ ...deployment("shop", "web"), kind: "Deployments" });
    expect(it.store.manifests.get(web)?.kind).toBe("deployment");
  });

  test("of identical content changes nothing and asks nothing of the engine", async () => {
    const first = await it.apply([deployment("shop", "web"), registry()]);
    await it.settle();
    const rows = rowsOf(it);
    it.runtime.calls.length = 0;
    await it.advance(5_000);
    const again = await it.apply([deployment("shop", "web"), registry()]);
    await it.advance(5_000);
    expect(again.applied).toEqual(first.applied);
    expect(rowsOf(it)).toEqual(rows);
    expect(it.runtime.calls).toEqual([]);
  });

  test("of other content keeps created_at and moves revision and updated_at", async () => {
    const [first] = (await it.apply(deployment("shop", "web"))).applied;
    await it.advance(60_000);
    const [second] = (await it.apply(deployment("shop", "web", { replicas: 2 }))).applied;
    const created = new Date(testEpoch).toISOString();
    expect(first?.metadata).toMatchObject({ created_at: created, updated_at: created });
    expect(second?.metadata?.created_at).toBe(created);
    expect(second?.metadata?.updated_at).toBe(new Date(testEpoch + 60_000).toISOString());
    expect(second?.metadata?.revision ?? 0).toBeGreaterThan(first?.metadata?.revision ?? 0);
    expect(it.events("manifest.apply").at(-1)?.detail).toEqual({ outcome: "updated", changed: ["replicas"] });
  });

  test("takes back what was read: metadata of ours is ignored", async () => {
    const [first] = (await it.apply(deployment("shop", "web"))).applied;
    if (first === undefined) throw new Error("nothing applied");
    const [again] = (await it.apply(first)).applied;
    expect(again).toEqual(first);
  });

  test("of identical content tries again what is failing", async () => {
    it.runtime.fail("create", failure(), 4);
    await it.apply(deployment("shop", "web"));
    await it.advance(4_000);
    expect(it.containers()).toEqual([]);
    await it.advance(3_000);
    it.runtime.fail("create", undefined);
    await it.apply(deployment("shop", "web"));
    await it.quiet();
    expect(it.containers()).toHaveLength(1);
  });

  test("racing another is whole, the last one wins, and both are in the events", async () => {
    const both = (env: string) => [
      deployment("shop", "web", { env: { A: env } }),
      statefulset("shop", "db", { env: { A: env } }),
    ];
    const [, second] = await Promise.all([it.apply(both("1")), it.apply(both("2"))]);
    expect(it.store.manifests.list({ scope: "shop" }).map(({ spec }) => spec.env)).toEqual([{ A: "2" }, { A: "2" }]);
    expect(it.controller.listManifests({})).toEqual(second.applied);
    expect(it.events("manifest.apply")).toHaveLength(4);
  });
});

function failure() {
  return new Failure("conflict", "the engine had a bad moment", { reason: "Other" });
}

describe("an app block", () => {
  const app = { kind: "app", scope: "shop", name: "web", spec: { image: fixtureImage, host: "Shop.example.org" } };

  test("becomes a deployment and an ingress of one identity", async () => {
    const { applied } = await it.apply(app);
    expect(applied.map(({ kind, scope, name }) => `${kind} ${scope}/${name}`)).toEqual([
      "deployment shop/web",
      "ingress shop/web",
    ]);
    expect(applied.map(({ spec }) => spec)).toEqual([{ image: fixtureImage }, { host: "shop.example.org" }]);
  });

  test("goes with both, the deployment by itself without the ingress", async () => {
    const stored = () => it.store.manifests.list({ scope: "shop" }).map(({ kind }) => kind);
    await it.apply(app);
    const where = { scope: "shop", name: "web" };
    const { deleted } = await it.controller.deleteManifest({ kind: "app", ...where }, { prune: false, actor: "ana" });
    expect([deleted, stored()]).toEqual([["deployment/shop/web", "ingress/shop/web"], []]);
    await it.apply(app);
    await it.controller.deleteManifest({ kind: "deployment", ...where }, { prune: false, actor: "ana" });
    expect(stored()).toEqual(["ingress"]);
    await it.apply({ ...app, name: "inner", spec: { image: fixtureImage } });
    const inner = { kind: "app", scope: "shop", name: "inner" };
    expect((await it.controller.deleteManifest(inner, { prune: false, actor: "ana" })).deleted).toEqual([
      "deployment/shop/inner",
    ]);
  });

  test("beside one of the two it makes is refused", async () => {
    const error = await expectFailure(it.apply([app, deployment("shop", "web")]), "invalid");
    expect(error.message).toContain("manifest 2: deployment/shop/web is in this apply twice");
  });
});

describe("a secret inside a spec", () => {
  test("is shown masked everywhere and stored sealed", async () => {
    const { applied } = await it.apply(registry());
    expect(applied[0]?.spec.token).toBe(MASK);
    expect(it.controller.listManifests({ kind: "registry" })[0]?.spec.token).toBe(MASK);
    const { manifest } = await it.controller.describe({ kind: "registry", name: "hub" });
    expect(manifest.spec.token).toBe(MASK);
    expect(JSON.stringify(rowsOf(it))).not.toContain("t0ken");
    expect(it.logged.join("")).not.toContain("t0ken");
  });

  test("keeps its value when the mask is applied again, also beside other changes", async () => {
    await it.apply(registry());
    await it.apply(registry({ token: MASK }));
    expect(it.events("manifest.apply")).toHaveLength(1);
    await it.apply(registry({ token: MASK, username: "cd" }));
    expect(it.store.manifests.get(keyOf("registry", "", "hub"))?.spec).toMatchObject({
      username: "cd",
      token: "t0ken",
    });
  });

  test("is refused as a mask where nothing is stored, or where it would go to another address", async () => {
    const fresh = await expectFailure(it.apply(registry({ token: MASK })), "invalid");
    expect(fresh.message).toContain("spec.token: is masked");
    await it.apply(registry());
    await expectFailure(it.apply(registry({ token: MASK, url: "elsewhere.example.org" })), "invalid");
    expect(it.store.manifests.get(keyOf("registry", "", "hub"))?.spec.url).toBe("registry.example.org");
  });
});

describe("if_revision", () => {
  const expecting = (revision: number, replicas = 1) => ({
    ...deployment("shop", "web", { replicas }),
    metadata: { if_revision: revision } as unknown as { revision: number },
  });

  test("lets through the revision that was read, and 0 for what must not exist", async () => {
    const [first] = (await it.apply(expecting(0))).applied;
    await it.apply(expecting(first?.metadata?.revision ?? -1, 2));
    expect(it.store.manifests.get(web)?.spec.replicas).toBe(2);
  });

  test("refuses the whole apply when somebody was faster", async () => {
    const [first] = (await it.apply(deployment("shop", "web"))).applied;
    await it.apply(deployment("shop", "web", { replicas: 3 }));
    const rows = rowsOf(it);
    const late = it.apply([statefulset("shop", "db"), expecting(first?.metadata?.revision ?? -1)]);
    const error = await expectFailure(late, "conflict");
    expect(error.message).toContain("manifest 2: metadata.if_revision: deployment/shop/web was expected at revision");
    expect(error).toMatchObject({
      reason: "RevisionConflict",
      fields: { resource: "deployment/shop/web", revision: it.store.manifests.get(web)?.revision },
      problems: [{ path: "metadata.if_revision", place: { manifest: 2 } }],
    });
    await expectFailure(it.apply(expecting(0)), "conflict");
    expect(rowsOf(it).manifests).toEqual(rows.manifests ?? []);
    expect(it.events("manifest.apply")).toHaveLength(2);
  });
});

describe("an apply with prune", () => {
  beforeEach(async () => {
    await it.apply([
      deployment("shop", "web"),
      deployment("shop", "old"),
      statefulset("shop", "db"),
      deployment("blog", "old"),
      { kind: "asset", name: "loose", spec: { files: { a: "1" } } },
      registry(),
    ]);
    await it.controller.setConfig({ scope: "shop", name: "old" }, { A: "1" }, { restart: false, actor: "test" });
    await it.settle();
  });

  test("deletes siblings of its kinds and scopes only, and softly", async () => {
    const { pruned } = await it.apply(deployment("shop", "web"), { prune: true });
    expect(pruned).toEqual(["deployment/shop/old"]);
    expect(it.controller.listManifests({}).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "asset loose",
      "deployment old",
      "deployment web",
      "registry hub",
      "statefulset db",
    ]);
    await it.settle();
    expect(it.containers().map((name) => name.split(".")[0])).toEqual(["blog-old", "shop-db", "shop-web"]);
    expect(it.store.config.bucket("shop", "old")).toEqual({ A: "1" });
    const [event] = it.events("manifest.delete");
    expect(event).toMatchObject({ actor: "test", name: "old", detail: { why: "apply with prune", prune: false } });
  });

  test("never touches unscoped kinds", async () => {
    const { pruned } = await it.apply(registry({ url: "other.example.org", token: "n3w" }), { prune: true });
    await it.apply({ kind: "asset", name: "tight", spec: { files: { a: "1" } } }, { prune: true });
    expect(pruned).toEqual([]);
    expect(it.controller.listManifests({ kind: "asset" })).toHaveLength(2);
  });

  test("frees the names that the pruned ones held", async () => {
    await it.apply(ingress("front", "shop.example.org"));
    const { pruned } = await it.apply(ingress("door", "shop.example.org"), { prune: true });
    expect(pruned).toEqual(["ingress/shop/front"]);
    await expectFailure(it.apply(ingress("front", "shop.example.org")), "invalid");
  });
});

describe("hosts and names move between manifests", () => {
  test("two ingresses swap hosts in one apply", async () => {
    await it.apply([ingress("a", "a.example.org"), ingress("b", "b.example.org")]);
    await it.apply([ingress("a", "b.example.org"), ingress("b", "a.example.org")]);
    const hosts = it.controller.listManifests({ kind: "ingress" }).map(({ name, spec }) => [name, spec.host]);
    expect(hosts).toEqual([
      ["a", "b.example.org"],
      ["b", "a.example.org"],
    ]);
    await expectFailure(it.apply(ingress("c", "a.example.org")), "invalid");
  });

  test("a deleted manifest gives them back", async () => {
    await it.apply(ingress("a", "a.example.org"));
    await it.controller.deleteManifest({ kind: "ingress", scope: "shop", name: "a" }, { prune: false, actor: "test" });
    await it.apply(ingress("b", "a.example.org"));
    expect(changesIn(it)).toEqual([]);
  });
});
