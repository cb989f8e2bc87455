import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { operator } from "../../../../../src/access/principal.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { createImageRoom } from "../../../../../src/local/staging.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
/** Ids of images that have a copy outside of the machine. */
let copies: string[];
beforeEach(async () => {
  copies = [];
  it = await world({
    async bringImage(id) {
      if (copies.includes(id)) it.runtime.addImage("copies:1", { id });
      return copies.includes(id);
    },
  });
  for (const id of ["v3", "v4", "v5"]) await build(id);
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const rollout = { min_ready: "2s", progress_deadline: "60s" };
const built = (id: string, spec: Spec = {}) => ({
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: { build: { id }, replicas: 1, rollout, ...spec },
});
/** Never ready: its init does not end. */
const broken = (id: string) => built(id, { inits: [{ name: "wait", command: ["sleep", "1000"] }] });
/** As a build leaves it. */
async function build(id: string, name = "web"): Promise<void> {
  const image = it.runtime.addImage(`shop-${name}:${id}`, { id: `sha256:${id}` });
  const now = it.clock.now();
  const of = { scope: "shop", name, id, image: `shop-${name}:${id}`, imageId: image.id, actor: "ana", log: "" };
  const how = {
    status: "succeeded",
    context: "",
    dockerfile: "Dockerfile",
    target: undefined,
    error: undefined,
  } as const;
  await it.store.write((tx) => {
    tx.builds.put({ ...of, ...how, startedAt: now, endedAt: now });
    tx.images.pulled(image.id, of.image, now);
  });
}
const releases = () => it.store.releases.list(key);
const outline = () => releases().map(({ cause, status, imageId }) => `${cause} ${status} ${imageId ?? "-"}`);
const served = () =>
  it.runtime
    .containers()
    .filter(({ name, state }) => name.startsWith("shop-web.") && state === "running" && !name.includes("init"))
    .map(({ imageId }) => imageId);
const back = async () => {
  const { rolled_back_to: id } = await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana" });
  await it.settle();
  return releases().find((release) => release.id === id)?.imageId;
};

describe("releases that were built from source", () => {
  beforeEach(async () => {
    for (const id of ["v3", "v4"]) {
      await it.apply(built(id));
      await it.settle();
    }
  });

  test("are listed with the images of their builds", () => {
    const listed = it.controller.listReleases(key).releases;
    expect(listed.map(({ image }) => image)).toEqual(["shop-web:v4", "shop-web:v3"]);
  });

  test("are gone back through one by one after a bad one", async () => {
    await it.apply(broken("v5"));
    await it.advance(5_000);
    expect([await back(), outline()[0], served()]).toEqual([
      "sha256:v4",
      "rollback succeeded sha256:v4",
      ["sha256:v4"],
    ]);
    expect([await back(), outline()[0], served()]).toEqual([
      "sha256:v3",
      "rollback succeeded sha256:v3",
      ["sha256:v3"],
    ]);
  });

  test("are gone back through after one that went back by itself", async () => {
    await it.apply(broken("v5"));
    await it.advance(90_000);
    await it.settle();
    expect(outline()[0]).toBe("auto_rollback succeeded sha256:v4");
    expect([await back(), served()]).toEqual(["sha256:v3", ["sha256:v3"]]);
  });

  test("go back once where an atomic apply fails", async () => {
    await it.apply(broken("v5"), { atomic: true });
    await it.advance(90_000);
    await it.settle();
    expect(outline()).toEqual([
      "auto_rollback succeeded sha256:v4",
      "apply failed -",
      "apply succeeded sha256:v4",
      "apply succeeded sha256:v3",
    ]);
  });

  test("keep the images that they can be gone back to, over a row of bad ones", async () => {
    const last = 27;
    for (let n = 5; n <= last; n++) {
      await build(`v${n}`);
      await it.apply(broken(`v${n}`));
      await it.quiet();
    }
    await back();
    await it.advance(2 * 3_600_000);
    const present = await Promise.all(["v3", "v4", "v5"].map((id) => it.runtime.inspectImage(`sha256:${id}`)));
    expect(present.map((image) => image !== undefined)).toEqual([true, true, false]);
    await back();
    expect(served()).toEqual(["sha256:v3"]);
  });
});

test("an image of one name that is made anew here is gone back from to the one before", async () => {
  const made = (v: string) => ({ kind: "deployment", scope: "shop", name: "web", spec: { env: { V: v }, rollout } });
  for (const v of ["1", "2"]) {
    it.runtime.addImage("shop-web:latest", { id: `sha256:made-${v}` });
    await it.apply(made(v));
    await it.settle();
  }
  expect([await back(), served()]).toEqual(["sha256:made-1", ["sha256:made-1"]]);
});

describe("an image that was built and that nothing has run on yet", () => {
  const wanted = () => createImageRoom({ engine: it.engine, store: it.store, folder: it.layout.copies }).wanted();

  test("is copied outside of the machine, until a release keeps its own", async () => {
    expect(wanted()).toEqual([]);
    await it.apply(built("v5", { replicas: 0 }));
    await it.settle();
    expect(wanted()).toEqual(["sha256:v5"]);
    await it.apply(built("v4"));
    await it.settle();
    expect(wanted()).not.toContain("sha256:v5");
  });

  test("comes back from there for the first replica", async () => {
    await it.runtime.removeImage("sha256:v5");
    copies = ["sha256:v5"];
    await it.apply(built("v5"));
    await it.settle();
    expect(served()).toEqual(["sha256:v5"]);
  });

  test("comes back from there for an app that was stored before it was built", async () => {
    const late = { kind: "deployment", scope: "shop", name: "late", spec: { build: {} } };
    const how = { dryRun: false, prune: false, force: false, actor: "ana", by: operator, unbuilt: true };
    await it.controller.apply([late], how);
    await it.quiet();
    copies = ["sha256:late"];
    await build("late", "late");
    await it.runtime.removeImage("sha256:late");
    await it.advance(60_000);
    await it.settle();
    expect(it.runtime.containers().map(({ imageId }) => imageId)).toEqual(["sha256:late"]);
  });
});
