import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const web = (spec: Spec = {}) => deployment("shop", "web", { image: "app:1", ...spec });
const status = () => it.status("deployment", "shop", "web");
const reason = async () => (await status()).conditions.find(({ type }) => type === "Progressing")?.reason;
const imageIds = () => [...new Set(it.runtime.containers().map(({ imageId }) => imageId))];
const restart = () => it.controller.restart({ name: "web" }, { wait: false, actor: "ana" });
const begun = { wait: false, actor: "ana" };

/** Lets one-off containers end well, by a part of their names. */
async function finish(part: string): Promise<void> {
  await it.quiet();
  const running = it.runtime.containers().filter(({ name, state }) => name.includes(part) && state === "running");
  expect(running.length).toBeGreaterThan(0);
  for (const { name } of running) it.runtime.finish(name, 0);
  await it.quiet();
}

describe("an image of a release that is gone, while its tag means another one", () => {
  const key = keyOf("deployment", "shop", "web");
  /** Ids of images that have a copy outside of the machine. */
  let copies: string[];
  const releases = () => it.store.releases.list(key).map(({ imageId, good }) => ({ imageId, good }));
  const gone = async (id: string) => {
    for (const { id: container, imageId } of it.runtime.containers()) {
      if (imageId === id) await it.runtime.remove(podRef(container));
    }
    await it.runtime.removeImage(id);
  };
  /** As `docker build -t app:1` and `docker image prune -a` do it: no registry knows it. */
  const rebuild = () => it.runtime.addImage("app:1", { id: "sha256:two" });
  beforeEach(async () => {
    await it.close();
    copies = [];
    it = await world({
      async bringImage(id) {
        if (copies.includes(id)) it.runtime.addImage("copies:1", { id });
        return copies.includes(id);
      },
      wrapRuntime: (runtime) => ({
        ...runtime,
        inspectImage: async (ref) => {
          const image = await runtime.inspectImage(ref);
          return image === undefined ? undefined : { ...image, digests: [] };
        },
      }),
    });
    it.runtime.addImage("app:1", { id: "sha256:one" });
    it.runtime.addImage("app:2", { id: "sha256:good" });
  });

  const brothers: [string, () => Promise<unknown>][] = [
    ["a replica that is made anew", async () => undefined],
    ["one more replica", () => it.apply(web({ replicas: 2 }))],
    ["a restart", restart],
  ];
  for (const [name, begin] of brothers) {
    test(`comes back from a copy outside of the machine for ${name}`, async () => {
      await it.apply(web());
      await it.settle();
      copies = ["sha256:one"];
      rebuild();
      await gone("sha256:one");
      await begin();
      await it.settle();
      expect(imageIds()).toEqual(["sha256:one"]);
    });
  }

  test("has its name again when it comes back, so that the next release does not pull what a registry calls the same", async () => {
    await it.apply(web());
    await it.settle();
    copies = ["sha256:one"];
    it.runtime.addRemoteImage("app:1", { id: "sha256:stranger" });
    await gone("sha256:one");
    await it.settle();
    await it.apply(web({ env: { A: "b" } }));
    await it.settle();
    expect(imageIds()).toEqual(["sha256:one"]);
  });

  for (const [name, begin] of brothers) {
    test(`stops ${name} with its id, and heals when it is loaded again`, async () => {
      await it.apply(web());
      await it.settle();
      rebuild();
      await gone("sha256:one");
      await begin();
      await it.advance(5_000);
      expect([await reason(), imageIds()]).toEqual(["ImageMissing", []]);
      expect((await status()).last_reconcile_error).toContain("sha256:one");
      expect(it.store.images.pinOf(key)?.imageId).toBe("sha256:one");
      it.runtime.addImage("loaded:1", { id: "sha256:one" });
      await it.settle();
      expect(imageIds()).toEqual(["sha256:one"]);
    });
  }

  test("stops a start after a scale to 0", async () => {
    await it.apply(web());
    await it.settle();
    await it.apply(web({ replicas: 0 }));
    await it.settle();
    rebuild();
    await gone("sha256:one");
    await it.apply(web({ replicas: 1 }));
    await it.advance(5_000);
    expect([await reason(), imageIds()]).toEqual(["ImageMissing", []]);
  });

  test("stops a wake from sleep, and the app wakes with it once it is loaded again", async () => {
    const target = { kind: "deployment", scope: "shop", name: "web" };
    const wake = () => it.controller.wake({ scope: "shop", name: "web" }, { actor: "ana" });
    await it.apply(web({ wake: true }));
    await it.settle();
    await it.controller.scale({ ...target, replicas: "0" }, { actor: "ana" });
    await it.settle();
    expect(imageIds()).toEqual([]);
    rebuild();
    await gone("sha256:one");
    await wake();
    await it.advance(5_000);
    expect([(await status()).last_reconcile_error, imageIds()]).toEqual([expect.stringContaining("sha256:one"), []]);
    it.runtime.addImage("loaded:1", { id: "sha256:one" });
    await wake();
    await it.settle();
    expect([imageIds(), releases()]).toEqual([["sha256:one"], [{ imageId: "sha256:one", good: true }]]);
  });

  test("stops a replica of a statefulset", async () => {
    await it.apply({ kind: "statefulset", scope: "shop", name: "db", spec: { image: "app:1" } });
    await it.settle();
    rebuild();
    await gone("sha256:one");
    await it.advance(5_000);
    const { conditions } = await it.status("statefulset", "shop", "db");
    expect(conditions.find(({ type }) => type === "Progressing")?.reason).toBe("ImageMissing");
    expect(imageIds()).toEqual([]);
  });

  test("refuses a rollback to it before anything is stored, with its id", async () => {
    await it.apply(web());
    await it.settle();
    await it.apply(web({ env: { A: "1" } }));
    await it.settle();
    await it.apply(web({ image: "app:2" }));
    await it.settle();
    rebuild();
    await gone("sha256:one");
    const before = releases();
    for (const dryRun of [true, false]) {
      const failure = await it.controller
        .rollback({ name: "web", releaseId: undefined }, { actor: "ana", dryRun })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "conflict",
        reason: "ImageMissing",
        message: expect.stringContaining("sha256:one"),
      });
    }
    expect([releases(), imageIds()]).toEqual([before, ["sha256:good"]]);
  });

  test("stops a rollback that loses its image on the way: it fails, and the release that ran stays", async () => {
    await it.apply(web());
    await it.settle();
    await it.apply(web({ image: "app:2" }));
    await it.settle();
    await it.controller.rollback({ name: "web", releaseId: undefined }, { actor: "ana" });
    rebuild();
    await gone("sha256:one");
    await it.advance(60 * 60_000);
    const [, failed] = it.store.releases.list(key);
    expect(failed).toMatchObject({ cause: "rollback", status: "failed", good: false, imageId: "sha256:one" });
    expect(failed?.error).toContain("sha256:one");
    expect(imageIds()).toEqual(["sha256:good"]);
  });

  test("stops release commands of a release that has one", async () => {
    const release = { command: ["migrate"] };
    for (const image of ["app:1", "app:2"]) {
      await it.apply(web({ image, release }));
      await finish("-release");
      await it.settle();
    }
    await it.controller.rollback({ name: "web", releaseId: undefined }, { actor: "ana" });
    rebuild();
    await gone("sha256:one");
    await it.advance(60 * 60_000);
    expect(it.store.releases.list(key)[1]).toMatchObject({ status: "failed", cause: "rollback" });
    expect(it.store.releases.list(key)[1]?.reasons).toContain("ImageMissing");
  });

  test("stops runs of a job, and a pull with an apply gives the job what the tag means now", async () => {
    const job = { kind: "job", scope: "shop", name: "report", spec: { image: "app:1", command: ["go"] } };
    const run = () => it.controller.runJob({ kind: "job", name: "report" }, begun);
    await it.apply(job);
    await run();
    await finish("shop-report.");
    for (const { id } of it.runtime.containers()) await it.runtime.remove(podRef(id));
    rebuild();
    await gone("sha256:one");
    await run();
    await it.advance(5_000);
    const [last] = it.store.runs.list(keyOf("job", "shop", "report"));
    expect(last).toMatchObject({ status: "failed", error: expect.stringContaining("sha256:one") });
    await it.apply(job, { force: true });
    expect(it.store.images.pinOf(keyOf("job", "shop", "report"))?.imageId).toBe("sha256:two");
  });

  test("is released anew by a restart that asks for what the tag means now", async () => {
    await it.apply(web());
    await it.settle();
    rebuild();
    await gone("sha256:one");
    await it.controller.restart({ name: "web" }, { wait: false, pull: true, actor: "ana" });
    await it.settle();
    expect(imageIds()).toEqual(["sha256:two"]);
    expect(releases()).toEqual([
      { imageId: "sha256:two", good: true },
      { imageId: "sha256:one", good: true },
    ]);
  });

  test("and that was built here is released when it is built again, and applied", async () => {
    const built = { kind: "deployment", scope: "shop", name: "web", spec: {} };
    it.runtime.addImage("shop-web:latest", { id: "sha256:built" });
    await it.apply(built);
    await it.settle();
    await gone("sha256:built");
    await it.advance(5_000);
    expect([await reason(), (await status()).last_reconcile_error]).toEqual([
      "ImageMissing",
      expect.stringContaining("berth up"),
    ]);
    expect((await it.controller.why({ name: "web" })).built).toBe(true);
    it.runtime.addImage("shop-web:latest", { id: "sha256:again" });
    await it.apply(built);
    await it.settle();
    expect([imageIds(), releases()]).toEqual([
      ["sha256:again"],
      [
        { imageId: "sha256:again", good: true },
        { imageId: "sha256:built", good: true },
      ],
    ]);
  });

  test("of an init stops the replica; a pull takes what its tag means now", async () => {
    it.runtime.addImage("tools:1", { id: "sha256:tools" });
    const spec = web({ inits: [{ name: "a", image: "tools:1", command: ["go"] }] });
    await it.apply(spec);
    await finish("-init-");
    await it.settle();
    it.runtime.addImage("tools:1", { id: "sha256:other" });
    await it.runtime.removeImage("sha256:tools");
    await restart();
    await it.advance(5_000);
    expect([await reason(), (await status()).last_reconcile_error]).toEqual([
      "ImageMissing",
      expect.stringContaining("sha256:tools"),
    ]);
    await it.controller.restart({ name: "web" }, { wait: false, pull: true, actor: "ana" });
    await finish("-init-");
    await it.settle();
    expect(await status()).toMatchObject({ phase: "ready" });
  });
});

test("a replica of an earlier release takes its own image while the commands of the next release run", async () => {
  it.runtime.addImage("app:1", { id: "sha256:one" });
  await it.apply(web());
  await it.settle();
  it.runtime.addImage("app:1", { id: "sha256:two" });
  await it.apply(web({ env: { A: "1" }, release: { command: ["false"] } }));
  await it.quiet();
  const [name = ""] = it.containers();
  it.runtime.removeByHand(name);
  await it.quiet();
  const one = it.runtime.containers().filter(({ name: of }) => of.startsWith("shop-web."));
  expect(one.map(({ imageId }) => imageId)).toContain("sha256:one");
});

test("the digest of an image is known for as long as a release may return to it, however often the app restarts", async () => {
  it.runtime.addRemoteImage("app:1", { id: "sha256:one" });
  it.runtime.addRemoteImage("app:2", { id: "sha256:good" });
  await it.apply(web());
  await it.settle();
  await it.apply(web({ image: "app:2" }));
  await it.settle();
  for (let n = 0; n < 12; n++) {
    await restart();
    await it.settle();
  }
  await it.runtime.removeImage("sha256:one");
  it.runtime.addImage("app:1", { id: "sha256:two" });
  await it.controller.rollback({ name: "web", releaseId: undefined }, { actor: "ana" });
  await it.settle();
  expect(imageIds()).toEqual(["sha256:one"]);
  expect(it.store.images.pinOf(keyOf("deployment", "shop", "web"))?.digest).toContain("app@sha256:");
});

test("an app that names no image and was never built says where to build it", async () => {
  await it.apply({ kind: "deployment", scope: "shop", name: "late", spec: {} });
  await it.advance(5_000);
  const { last_reconcile_error: error } = await it.status("deployment", "shop", "late");
  expect(error).toContain("set spec.image, or build it where its source is: berth apply -f FILE");
});
