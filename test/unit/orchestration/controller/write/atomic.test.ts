import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Manifest } from "../../../../../src/orchestration/api/manifest.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { testPlugins, writePlugin } from "../../../../support/plugins.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const rollout = { min_ready: "2s", progress_deadline: "60s" };
const app = (name: string, v: string, spec: Spec = {}) =>
  deployment("shop", name, { replicas: 1, rollout, env: { V: v }, ...spec });
const bad = { image: "nowhere:1" };
const asset = (text: string): Manifest => ({
  kind: "asset",
  scope: "shop",
  name: "conf",
  spec: { files: { app: text } },
});
const hub = (token: string): Manifest => ({
  kind: "registry",
  name: "hub",
  spec: { url: "hub.example.org", username: "ci", token },
});
const envOf = (name: string) =>
  it.runtime
    .containers()
    .filter((one) => one.name.startsWith(`shop-${name}.`) && one.state === "running")
    .map(({ env }) => env.V)
    .join("");
const specOf = (kind: string, name: string, scope = "shop") => it.store.manifests.get(keyOf(kind, scope, name))?.spec;

async function atomic(...body: Manifest[]): Promise<string> {
  const { atomic: id } = await it.apply(body, { atomic: true });
  return id ?? "";
}

const state = (id: string) => it.controller.atomicApply(id);
const outcomes = (id: string) =>
  Object.fromEntries(state(id).resources.map(({ ref, outcome }) => [ref.replace(/^.*\//, ""), outcome]));

describe("an atomic apply", () => {
  test("of which everything becomes ready is kept", async () => {
    const id = await atomic(app("web", "1"), app("api", "1"), asset("one"));
    expect(state(id)).toMatchObject({ state: "waiting" });
    await it.settle();
    await it.advance(1_000);
    expect(state(id)).toMatchObject({ state: "kept", resources: [{ outcome: "kept" }, {}, {}] });
    expect([envOf("web"), envOf("api")]).toEqual(["1", "1"]);
  });

  test("goes back as a whole when one resource fails: made ones go, changed and pruned ones come back", async () => {
    await it.apply([app("web", "1"), app("api", "1"), app("old", "1"), asset("one"), hub("s3cret-one")]);
    await it.settle();
    const before = it.store.manifests.list().map(({ kind, name, spec }) => ({ kind, name, spec }));
    const body = [
      app("web", "2", bad),
      app("api", "2", { replicas: 3 }),
      app("new", "1"),
      asset("two"),
      hub("s3cret-two"),
    ];
    const { atomic: id = "" } = await it.apply(body, { atomic: true, prune: true });
    await it.advance(2_500);
    expect([envOf("web"), envOf("new"), envOf("old")]).toEqual(["1", "1", ""]);
    expect(envOf("api")).toContain("2");
    await it.advance(12_000);
    expect(state(id)).toMatchObject({ state: "put_back", failed: "deployment/shop/web" });
    await it.settle();
    expect(it.store.manifests.list().map(({ kind, name, spec }) => ({ kind, name, spec }))).toEqual(before);
    expect([envOf("web"), envOf("api"), envOf("new"), envOf("old")]).toEqual(["1", "1", "", "1"]);
    expect(state(id)).toMatchObject({ state: "put_back", error: expect.stringContaining("deployment/shop/web: ") });
    expect(outcomes(id)).toMatchObject({
      web: "put back",
      api: "put back",
      new: "deleted again; its volumes and config stay",
      conf: "put back",
      hub: "put back",
      old: "put back, with a release history of its own",
    });
    expect(it.events("apply.put_back")).toHaveLength(1);
  });

  test("gives up what somebody has to mend within seconds, and says until when it waits", async () => {
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    const id = await atomic(app("web", "2", bad), app("api", "2"));
    await it.advance(1_500);
    const until = state(id).resources.map((one) => (Date.parse(one.until ?? "") - it.clock.now()) / 1_000);
    expect(until[0]).toBeWithin(55, 60);
    await it.advance(12_000);
    expect(state(id).state).toBe("put_back");
    expect(state(id).resources.some((one) => "until" in one)).toBe(false);
    expect(it.store.releases.list(keyOf("deployment", "shop", "web"))[1]?.reasons).toEqual(["ImagePull"]);
  });

  test("without such a fault waits for its progress deadline", async () => {
    const probe = { readiness: { http_get: { path: "/", port: 8080 } } };
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    const id = await atomic(app("web", "2", { ports: ["8080"], probes: probe }), app("api", "2"));
    await it.advance(50_000);
    expect(state(id).state).toBe("waiting");
    await it.advance(20_000);
    expect(state(id).state).toBe("put_back");
  });

  test("goes back with one release each, which says to which one, what it takes back and why", async () => {
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    await atomic(app("web", "2", bad), app("api", "2"));
    await it.advance(90_000);
    await it.settle();
    const rows = (name: string) => it.store.releases.list(keyOf("deployment", "shop", name));
    for (const [name, takenBack] of [
      ["web", ["env.V", "image"]],
      ["api", ["env.V"]],
    ] as const) {
      expect(rows(name).map(({ cause }) => cause)).toEqual(["auto_rollback", "apply", "apply"]);
      expect(rows(name)[0]).toMatchObject({ status: "succeeded", rolledBackFrom: rows(name)[2]?.id, takenBack });
    }
    expect(rows("api")[0]?.message).toStartWith("atomic apply: deployment/shop/web: ImagePull: ");
  });

  test("ends at the progress deadline as well where a reference has no value", async () => {
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    const id = await atomic(app("web", "2", { env: { V: "2", X: "${ref.deployment.none.host}" } }), app("api", "2"));
    await it.advance(50_000);
    expect(state(id).state).toBe("waiting");
    await it.advance(90_000);
    await it.settle();
    expect(state(id)).toMatchObject({ state: "put_back", error: expect.stringContaining("ref.deployment.none.host") });
    expect([envOf("web"), envOf("api")]).toEqual(["1", "1"]);
  });

  test("is seen to its end by the next server", async () => {
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    const id = await atomic(app("web", "2", bad), app("api", "2"));
    await it.advance(1_000);
    await it.crash();
    await it.advance(90_000);
    await it.settle();
    expect([envOf("web"), envOf("api"), state(id).state]).toEqual(["1", "1", "put_back"]);
  });

  test("leaves alone what somebody else changed meanwhile, and says so", async () => {
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    const id = await atomic(app("web", "2", bad), app("api", "2"));
    await it.advance(1_000);
    await it.apply(app("api", "3"));
    await it.advance(90_000);
    await it.settle();
    expect([envOf("web"), envOf("api")]).toEqual(["1", "3"]);
    expect(outcomes(id)).toEqual({ web: "put back", api: "left as it is: changed meanwhile" });
    expect(state(id)).toMatchObject({
      failed: "deployment/shop/web",
      resources: [
        { ref: "deployment/shop/web", fate: "put_back" },
        { ref: "deployment/shop/api", fate: "left" },
      ],
    });
  });

  test("goes back to the images and without the release commands of before", async () => {
    it.runtime.addImage("app:latest", { id: "sha256:one" });
    const release = { command: ["migrate"] };
    const api = (v: string) => app("api", v, { image: "app:latest", ...(v === "1" ? {} : { release }) });
    await it.apply([app("web", "1"), api("1")]);
    await it.settle();
    it.runtime.addImage("app:latest", { id: "sha256:two" });
    await atomic(app("web", "2", bad), api("2"));
    await it.quiet();
    const [command] = it.runtime.containers().filter(({ name }) => name.startsWith("shop-api-release."));
    it.runtime.finish(command?.name ?? "", 0);
    await it.advance(90_000);
    await it.settle();
    const pods = it.runtime.containers().filter(({ name }) => name.startsWith("shop-api."));
    expect(pods.map(({ imageId, env }) => [imageId, env.V])).toEqual([["sha256:one", "1"]]);
    expect(specOf("deployment", "api")?.release).toBeUndefined();
  });

  test("gives back a host name that moved", async () => {
    const ingress = (name: string): Manifest => ({
      kind: "ingress",
      scope: "shop",
      name,
      spec: { host: "a.test", service: name },
    });
    await it.apply([app("web", "1"), ingress("web")]);
    await it.settle();
    await it.apply([app("web", "2", bad), ingress("api")], { atomic: true, prune: true });
    await it.advance(90_000);
    await it.settle();
    expect([specOf("ingress", "web")?.host, specOf("ingress", "api")]).toEqual(["a.test", undefined]);
  });

  test("takes back a count that was changed with it, although that is no release", async () => {
    await it.apply([app("web", "1"), app("api", "1")]);
    await it.settle();
    const id = await atomic(app("web", "1", { replicas: 2 }), app("api", "2", bad));
    await it.advance(90_000);
    await it.settle();
    expect([envOf("web"), state(id).state]).toEqual(["1", "put_back"]);
  });

  test("that cannot go back says so, and touches nothing", async () => {
    const ingress = (name: string): Manifest => ({
      kind: "ingress",
      scope: "shop",
      name,
      spec: { host: "a.test", service: name },
    });
    await it.apply([app("web", "1"), ingress("web")]);
    await it.settle();
    const moved = { ...ingress("web"), spec: { host: "b.test", service: "web" } };
    const id = await atomic(app("web", "2", bad), moved);
    await it.apply(ingress("thief"));
    await it.advance(300_000);
    expect(state(id)).toMatchObject({ state: "stuck", error: expect.stringContaining("a.test") });
    expect(specOf("ingress", "web")?.host).toBe("b.test");
    expect(it.events("apply.stuck")).toHaveLength(1);
  });

  test("forgets the specs of before once it has ended", async () => {
    await it.apply([app("web", "1"), hub("s3cret-one")]);
    await it.settle();
    const id = await atomic(app("web", "2"), hub("s3cret-two"));
    expect(JSON.stringify(it.store.atomic.get(id))).toContain("s3cret-one");
    await it.settle();
    await it.advance(1_000);
    expect(JSON.stringify(it.store.atomic.get(id))).not.toContain("s3cret-one");
    expect(JSON.stringify(state(id))).not.toContain("s3cret");
  });

  test("that changes nothing is kept at once, and a dry run begins none", async () => {
    await it.apply(app("web", "1"));
    await it.settle();
    const id = await atomic(app("web", "1"));
    await it.advance(31_000);
    expect(state(id)).toMatchObject({ state: "kept", resources: [] });
    const { atomic: none } = await it.apply(app("web", "2"), { atomic: true, dryRun: true });
    expect(none).toBeUndefined();
    expect(it.store.atomic.waiting()).toEqual([]);
  });

  test("refuses blocks of plugins", async () => {
    await it.close();
    it = await world({ plugins: (layout) => testPlugins(layout) });
    writePlugin(it.layout, "pg", {
      yml: "name: pg\nversion: 1.0.0\n",
      commands: { expand: "exit 1" },
    });
    const block = { kind: "pg", scope: "data", name: "main", spec: {} };
    const error = await expectFailure(it.apply([app("web", "1"), block], { atomic: true }), "invalid");
    expect(error.message).toStartWith("atomic: pg/data/main is a block of a plugin");
    expect(it.store.manifests.list()).toEqual([]);
  });

  test("that is not known is a 404", async () => {
    await expectFailure((async () => state("apply-none"))(), "not_found");
  });
});
