import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  it.runtime.addRemoteImage("app:1", { id: "sha256:one" });
  await it.apply(web());
  await it.settle();
  it.runtime.calls.length = 0;
});
afterEach(() => it.close());

const web = (spec: Spec = {}) => deployment("shop", "web", { image: "app:1", replicas: 2, ...spec });
const key = keyOf("deployment", "shop", "web");
const releases = () => it.store.releases.list(key);
const imageIds = () => [...new Set(it.runtime.containers().map(({ imageId }) => imageId))];
const pulls = () => it.runtime.calls.filter((call) => call.startsWith("pull ")).map((call) => call.slice(5));
const moveTag = () => it.runtime.addRemoteImage("app:1", { id: "sha256:two" });
const down = new Failure("conflict", "registry is away", { reason: "ImagePull" });

async function force(body = web()) {
  const result = await it.apply(body, { force: true });
  await it.settle();
  return result;
}

async function restart() {
  const [answer] = await Promise.all([
    it.controller.restart({ name: "web" }, { wait: true, pull: true, actor: "ana" }),
    it.settle(),
  ]);
  return answer;
}

/** Replicas on the image that moved come to nothing. */
function crashOnTwo(): void {
  for (const { name, imageId, state } of it.runtime.containers()) {
    if (imageId === "sha256:two" && state === "running") it.runtime.crash(name, 1);
  }
}

async function untilReleaseEnds(): Promise<void> {
  for (let second = 0; second < 400 && releases().some(({ endedAt }) => endedAt === undefined); second++) {
    crashOnTwo();
    await it.advance(1_000);
  }
  await it.settle();
}

describe("an apply with force", () => {
  test("of what is unchanged rolls the replicas where the tag moved, as a release of its own", async () => {
    moveTag();
    expect((await force()).image_pulls).toEqual([{ image: "app:1", updated: true }]);
    expect(imageIds()).toEqual(["sha256:two"]);
    expect(releases().map(({ cause, status, imageId }) => [cause, status, imageId])).toEqual([
      ["image", "succeeded", "sha256:two"],
      ["apply", "succeeded", "sha256:one"],
    ]);
  });

  test("leaves the replicas alone where it did not", async () => {
    const before = it.containers();
    expect((await force()).image_pulls).toEqual([{ image: "app:1", updated: false }]);
    expect([it.containers(), releases().length, pulls()]).toEqual([before, 1, ["app:1"]]);
  });

  test("of another spec takes the fresh image with it, in one release", async () => {
    moveTag();
    await force(web({ env: { A: "1" } }));
    expect(imageIds()).toEqual(["sha256:two"]);
    expect(releases().map(({ cause }) => cause)).toEqual(["apply", "apply"]);
  });

  test("asks once an image, for all container kinds and their inits", async () => {
    for (const image of ["init:1", "job:1", "cron:1"]) it.runtime.addRemoteImage(image);
    const result = await it.apply(
      [
        web({ replicas: 0, inits: [{ name: "prepare", image: "init:1", command: ["true"] }] }),
        statefulset("shop", "db", { image: "app:1" }),
        { kind: "job", scope: "shop", name: "once", spec: { image: "job:1" } },
        { kind: "cronjob", scope: "shop", name: "often", spec: { schedule: "* * * * *", job: { image: "cron:1" } } },
        { kind: "asset", scope: "shop", name: "files", spec: { files: { a: "1" } } },
      ],
      { force: true },
    );
    expect(result.image_pulls?.map(({ image }) => image)).toEqual(["app:1", "init:1", "job:1", "cron:1"]);
  });

  test("goes on with the copy here where the registry says no", async () => {
    it.runtime.fail("pull", down);
    const result = await it.apply(web({ env: { A: "1" } }), { force: true });
    expect(result.image_pulls).toEqual([
      { image: "app:1", updated: false, warning: "registry is away; the copy here stays" },
    ]);
    await it.settle();
    expect(imageIds()).toEqual(["sha256:one"]);
  });

  test("writes nothing where there is no copy either", async () => {
    const { message } = await expectFailure(
      it.apply([web({ env: { A: "1" } }), deployment("shop", "api", { image: "nowhere:1" })], { force: true }),
      "unavailable",
      "ImagePull",
    );
    expect(message).toContain('cannot pull image "nowhere:1"');
    expect(it.store.manifests.count()).toBe(1);
    expect(releases()).toHaveLength(1);
  });

  test("logs in with a registry of the same apply", async () => {
    const ref = "hub.example.org/app:1";
    it.runtime.addRemoteImage(ref, { auth: { username: "ci", password: "right" } });
    const registry = {
      kind: "registry",
      name: "hub",
      spec: { url: "hub.example.org", username: "ci", token: "right" },
    };
    const result = await it.apply([registry, deployment("shop", "api", { image: ref })], { force: true });
    expect(result.image_pulls).toEqual([{ image: ref, updated: true }]);
  });

  test("that is a dry run asks no registry", async () => {
    expect(await it.apply(web(), { force: true, dryRun: true })).not.toHaveProperty("image_pulls");
    expect(pulls()).toEqual([]);
  });

  test("is refused while the engine is away", async () => {
    it.runtime.engineDown();
    await it.advance(1_000);
    await expectFailure(it.apply(web(), { force: true }), "unavailable", "EngineUnavailable");
  });
});

describe("a restart with pull", () => {
  test("is a release where the tag moved", async () => {
    moveTag();
    const answer = await restart();
    expect(answer).toMatchObject({ image_pulls: [{ image: "app:1", updated: true }], release: releases()[0]?.id });
    expect([imageIds(), releases()[0]?.cause]).toEqual([["sha256:two"], "image"]);
  });

  test("is a plain restart where it did not", async () => {
    const before = it.containers();
    const answer = await restart();
    expect(answer).not.toHaveProperty("release");
    expect(it.containers().filter((name) => before.includes(name))).toEqual([]);
    expect(releases()).toHaveLength(1);
  });

  test("without it a moved tag is not looked at", async () => {
    moveTag();
    await Promise.all([it.controller.restart({ name: "web" }, { wait: true, actor: "ana" }), it.settle()]);
    expect([imageIds(), pulls()]).toEqual([["sha256:one"], []]);
  });
});

describe("an image that does not come up", () => {
  test("gives way to the one before, and the operation says why", async () => {
    await it.apply(web({ rollout: { min_ready: "30s" } }));
    await it.settle();
    moveTag();
    const { operation = "" } = await it.controller.restart({ name: "web" }, { wait: false, pull: true, actor: "ana" });
    await it.quiet();
    expect(it.controller.operation(operation).state).toBe("running");
    await untilReleaseEnds();
    expect(releases().map(({ cause, status, imageId }) => [cause, status, imageId])).toEqual([
      ["auto_rollback", "succeeded", "sha256:one"],
      ["image", "failed", "sha256:two"],
      ["apply", "succeeded", "sha256:one"],
    ]);
    expect(imageIds()).toEqual(["sha256:one"]);
    expect(it.controller.operation(operation)).toMatchObject({
      state: "failed",
      error: expect.stringContaining("CrashLoop"),
    });
  });

  test("without auto_rollback stops where it is, the old replicas serving", async () => {
    await it.apply(web({ rollout: { min_ready: "30s", auto_rollback: false } }));
    await it.settle();
    moveTag();
    await it.apply(web({ rollout: { min_ready: "30s", auto_rollback: false } }), { force: true });
    for (let second = 0; second < 60 && releases()[0]?.endedAt === undefined; second++) {
      crashOnTwo();
      await it.advance(1_000);
    }
    await it.advance(60_000);
    expect(releases()[0]).toMatchObject({ cause: "image", status: "failed" });
    expect(
      it.runtime.containers().filter(({ imageId, state }) => imageId === "sha256:one" && state === "running"),
    ).toHaveLength(2);
    expect(imageIds()).toEqual(["sha256:one"]);
    expect((await it.status("deployment", "shop", "web")).phase).toBe("failed");
  });
});

test("a rollback by hand goes back to the image of the release before, and forward again", async () => {
  moveTag();
  await force();
  const back = () => it.controller.rollback({ name: "web", releaseId: undefined }, { actor: "ana" });
  await back();
  await it.settle();
  expect(imageIds()).toEqual(["sha256:one"]);
  await back();
  await it.settle();
  expect(imageIds()).toEqual(["sha256:two"]);
});

test("a rollback to another spec runs the image that its release ran", async () => {
  await it.apply(web({ env: { A: "1" } }));
  await it.settle();
  moveTag();
  await force(web({ env: { A: "2" } }));
  const [, , first] = releases();
  await it.controller.rollback({ name: "web", releaseId: first?.id }, { actor: "ana" });
  await it.settle();
  expect(imageIds()).toEqual(["sha256:one"]);
});
