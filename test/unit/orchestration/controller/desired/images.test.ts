import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const web = (spec: Spec = {}) => deployment("shop", "web", { image: "app:1", ...spec });
const registry = (token: string) => ({
  kind: "registry",
  name: "hub",
  spec: { url: "hub.example.org", username: "ci", token },
});
const status = () => it.status("deployment", "shop", "web");
const reason = async () => (await status()).conditions.find(({ type }) => type === "Progressing")?.reason;
const pulls = () => it.runtime.calls.filter((call) => call.startsWith("pull ")).map((call) => call.slice(5));
const imageIds = () => [...new Set(it.runtime.containers().map(({ imageId }) => imageId))];
const present = async (ref: string) => (await it.runtime.inspectImage(ref)) !== undefined;
const restart = () => it.controller.restart({ name: "web" }, { wait: false, actor: "ana" });

describe("an image that is not on the machine", () => {
  test("is pulled once, however many replicas want it", async () => {
    it.runtime.addRemoteImage("app:1", { id: "sha256:one" });
    await it.apply(web({ replicas: 3 }));
    await it.settle();
    expect([pulls(), imageIds()]).toEqual([["app:1"], ["sha256:one"]]);
    expect(it.events("image.pull")).toMatchObject([{ name: "web", detail: { ref: "app:1", id: "sha256:one" } }]);
    expect((await status()).image_id).toBe("sha256:one");
  });

  test("and cannot be pulled is named, tried again with growing pauses, and heals", async () => {
    await it.apply(web());
    await it.quiet();
    expect(await reason()).toBe("ImagePull");
    const first = await status();
    expect(first).toMatchObject({
      phase: "progressing",
      attempts: 1,
      last_reconcile_error: expect.stringContaining('"app:1"'),
    });
    const pause = Date.parse(first.next_retry_at ?? "") - it.clock.now();
    await it.advance(20_000);
    const later = await status();
    expect(later.phase).toBe("failing");
    expect(later.attempts ?? 0).toBeGreaterThan(3);
    expect(Date.parse(later.next_retry_at ?? "") - Date.parse(later.last_reconcile_at)).toBeGreaterThan(pause);
    it.runtime.addRemoteImage("app:1");
    await it.settle();
    expect(await status()).toMatchObject({ phase: "ready", ready_replicas: 1 });
    for (const field of ["attempts", "next_retry_at", "last_reconcile_error"]) {
      expect(await status()).not.toHaveProperty(field);
    }
  });

  test("leaves the old version serving, and costs no hot loop", async () => {
    it.runtime.addImage("app:1");
    await it.apply(web({ replicas: 2 }));
    await it.settle();
    const before = it.containers();
    await it.apply(web({ image: "nowhere:1", replicas: 2 }));
    it.runtime.calls.length = 0;
    await it.advance(60 * 60_000);
    expect(it.containers()).toEqual(before);
    // Until the progress deadline; then the last good version is what is wanted again.
    expect(pulls().length).toBeGreaterThan(5);
    expect(pulls().length).toBeLessThan(20);
    expect(it.runtime.calls.length).toBeLessThan(1_500);
    expect(it.events().length).toBeLessThan(20);
  });

  test("and is to be built here is named, and taken when it is", async () => {
    await it.apply({ kind: "deployment", scope: "shop", name: "web", spec: {} });
    await it.quiet();
    expect(await reason()).toBe("ImageMissing");
    expect(pulls()).toEqual([]);
    it.runtime.addImage("shop-web:latest");
    await it.settle();
    expect(it.containers()).toHaveLength(1);
  });

  test("is not pulled onto a full disk", async () => {
    it.runtime.addRemoteImage("app:1");
    it.runtime.setFreeBytes(it.limits.diskFloorBytes - 1);
    await it.apply(web());
    await it.advance(10_000);
    expect(await reason()).toBe("DiskLow");
    expect((await status()).last_reconcile_error).toContain(
      "1023 MiB free where images are kept, the floor is 1024 MiB",
    );
    expect(pulls()).toEqual([]);
    it.runtime.setFreeBytes(it.limits.diskFloorBytes);
    await it.settle();
    expect(pulls()).toEqual(["app:1"]);
  });

  test("is pulled where free space cannot be seen", async () => {
    it.runtime.addRemoteImage("app:1");
    it.runtime.setFreeBytes(undefined);
    await it.apply(web());
    await it.settle();
    expect(pulls()).toEqual(["app:1"]);
  });
});

describe("a registry that wants a login", () => {
  const ref = "hub.example.org/app:1";
  beforeEach(() => it.runtime.addRemoteImage(ref, { auth: { username: "ci", password: "right" } }));

  test("is named when there is none or a wrong one, and heals with the right one", async () => {
    await it.apply(web({ image: ref }));
    await it.advance(5_000);
    expect(await reason()).toBe("RegistryAuth");
    await it.apply(registry("wrong"));
    await it.advance(60_000);
    expect(await reason()).toBe("RegistryAuth");
    await it.apply(registry("right"));
    await it.settle();
    expect(it.containers()).toHaveLength(1);
    expect(it.logged.join("")).not.toMatch(/wrong|right/);
  });

  test("gets the login of its own host only", async () => {
    let seen: unknown = "nothing";
    await it.close();
    it = await world({
      wrapRuntime: (runtime) => ({
        ...runtime,
        pull: (image, auth) => {
          seen = auth;
          return runtime.pull(image, auth);
        },
      }),
    });
    it.runtime.addRemoteImage("elsewhere.example.org/app:1");
    await it.apply([registry("right"), web({ image: "elsewhere.example.org/app:1" })]);
    await it.settle();
    expect(seen).toBeUndefined();
    it.runtime.addRemoteImage(ref, { auth: { username: "ci", password: "right" } });
    await it.apply(web({ image: ref }));
    await it.settle();
    expect(seen).toEqual({ username: "ci", password: "right", serverAddress: "hub.example.org" });
  });
});

describe("a tag that moves", () => {
  beforeEach(async () => {
    it.runtime.addRemoteImage("app:1", { id: "sha256:one" });
    await it.apply(web({ replicas: 2 }));
    await it.settle();
    it.runtime.addRemoteImage("app:1", { id: "sha256:two" });
    it.runtime.addImage("app:1", { id: "sha256:two" });
  });

  test("leaves running replicas and those that are healed or added on the pinned image", async () => {
    const [name = ""] = it.containers();
    it.runtime.removeByHand(name);
    await it.apply(web({ replicas: 4 }));
    await it.settle();
    expect([imageIds(), it.containers().length]).toEqual([["sha256:one"], 4]);
    await restart();
    await it.settle();
    expect(imageIds()).toEqual(["sha256:one"]);
  });

  test("is taken with the next change of the spec", async () => {
    await it.apply(web({ replicas: 2, env: { A: "1" } }));
    await it.settle();
    expect(imageIds()).toEqual(["sha256:two"]);
  });

  test("is asked for at every restart with pull always, and only then", async () => {
    await it.apply(web({ replicas: 2, pull: "always", env: { A: "1" } }));
    await it.settle();
    it.runtime.calls.length = 0;
    const [name = ""] = it.containers();
    it.runtime.removeByHand(name);
    await it.settle();
    expect(pulls()).toEqual([]);
    it.runtime.addRemoteImage("app:1", { id: "sha256:three" });
    await restart();
    await it.settle();
    expect([pulls(), imageIds()]).toEqual([["app:1"], ["sha256:three"]]);
  });

  test("finds the pinned image by its digest when it is gone from the machine", async () => {
    const pin = it.store.images.pinOf(keyOf("deployment", "shop", "web"));
    for (const name of it.containers()) it.runtime.removeByHand(name);
    await it.runtime.removeImage("sha256:one");
    it.runtime.calls.length = 0;
    await it.settle();
    expect(pulls()).toEqual([pin?.digest ?? ""]);
    expect(imageIds()).toEqual(["sha256:one"]);
  });
});

describe("collecting images", () => {
  const anHourAndMore = 65 * 60_000;
  const version = (n: number) => web({ image: `app:${n}` });

  test("takes what we pulled and nothing refers to any more", async () => {
    it.runtime.addRemoteImage("app:1");
    it.runtime.addRemoteImage("other:1");
    await it.apply([version(1), deployment("shop", "other", { image: "other:1" })]);
    await it.settle();
    await it.controller.deleteManifest({ kind: "deployment", name: "other" }, { prune: false, actor: "ana" });
    await it.advance(anHourAndMore);
    expect([await present("app:1"), await present("other:1")]).toEqual([true, false]);
  });

  test("keeps what a rollback needs, and what a container runs on", async () => {
    for (const n of [1, 2]) it.runtime.addRemoteImage(`app:${n}`);
    await it.apply(version(1));
    await it.settle();
    await it.apply(version(2));
    await it.settle();
    await it.advance(anHourAndMore);
    expect(await present("app:1")).toBe(true);
  });

  test("keeps the way back to good releases over a row of ones that never got ready", async () => {
    const last = 25;
    for (let n = 1; n <= last; n++) it.runtime.addRemoteImage(`app:${n}`);
    for (const n of [1, 2]) {
      await it.apply(version(n));
      await it.settle();
    }
    for (let n = 3; n <= last; n++) {
      await it.apply(web({ image: `app:${n}`, rollout: { min_ready: "5s" } }));
      await it.quiet();
    }
    await it.settle();
    await it.advance(anHourAndMore);
    expect([await present("app:1"), await present("app:2"), await present("app:3")]).toEqual([true, true, false]);
    const target = { scope: "shop", name: "web" };
    for (const image of ["app:2", "app:1"]) {
      const [goal] = it.store.releases.list(keyOf("deployment", "shop", "web")).filter((one) => one.image === image);
      await it.controller.rollback({ ...target, releaseId: goal?.id }, { actor: "ana" });
      await it.settle();
      expect(it.store.manifests.get(keyOf("deployment", "shop", "web"))?.spec.image).toBe(image);
    }
  });

  test("never takes what others pulled or made", async () => {
    it.runtime.addImage("app:1");
    it.runtime.addImage("theirs:1");
    await it.apply(version(1));
    await it.settle();
    await it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: true, actor: "ana" });
    await it.advance(anHourAndMore);
    expect([await present("app:1"), await present("theirs:1")]).toEqual([true, true]);
  });

  test("goes on past one that is in use elsewhere, and tries that again", async () => {
    for (const name of ["one", "two"]) {
      it.runtime.addRemoteImage(`${name}:1`);
      await it.apply(deployment("shop", name, { image: `${name}:1` }));
    }
    await it.settle();
    await it.controller.deleteScope("shop", { prune: false, actor: "ana" });
    it.runtime.fail("removeImage", new Failure("conflict", "in use by another container"), 5);
    await it.advance(anHourAndMore);
    expect([await present("one:1"), await present("two:1")].sort()).toEqual([false, true]);
    await it.advance(anHourAndMore);
    expect([await present("one:1"), await present("two:1")]).toEqual([false, false]);
  });
});
