import { afterEach, beforeEach, expect, test } from "bun:test";
import { operator, type Principal } from "../../../../../src/access/principal.ts";
import type { Manifest } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { reachingManifests } from "../../../../support/reaching.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const by: Principal = { type: "token", scopes: ["read", "actions"], apps: [] };
const confined = (body: Manifest | Manifest[], dryRun = false) => it.apply(body, { dryRun, by });

test.each(reachingManifests)("a confined apply refuses %s and stores nothing", async (_, manifest) => {
  for (const dryRun of [true, false]) {
    const error = await expectFailure(confined([deployment("shop", "other"), manifest], dryRun), "forbidden");
    expect(error.message).toContain("which takes the scope admin");
  }
  expect(it.store.manifests.heads()).toEqual([]);
});

test("it may change everything else, and named volumes of its scope", async () => {
  await confined(deployment("shop", "web", { volumes: ["data:/data"], env: { A: "1" } }));
  expect(it.store.manifests.heads()).toHaveLength(1);
});

test("what is stored already may stay; more of it may not come", async () => {
  const spec = { volumes: ["/srv/web:/data"] };
  await it.apply(deployment("shop", "web", spec));
  await confined(deployment("shop", "web", { ...spec, env: { A: "2" } }));
  await expectFailure(confined(deployment("shop", "web", { volumes: ["/srv/web:/data", "/etc:/etc"] })), "forbidden");
  await expectFailure(confined(deployment("shop", "twin", spec)), "forbidden");
});

test("a value that stands somewhere else in the manifest does not count", async () => {
  const env = { volumes: "/:/h", docker_options: "--privileged", cap_add: "SYS_ADMIN", network_mode: "host" };
  await confined(deployment("shop", "web", { env }));
  for (const more of [
    { volumes: ["/:/h"] },
    { docker_options: ["--privileged"] },
    { cap_add: ["SYS_ADMIN"] },
    { network_mode: "host" },
  ]) {
    await expectFailure(confined(deployment("shop", "web", { env, ...more })), "forbidden");
  }
});

test("options of the engine that stand cannot be put together in another way", async () => {
  await it.apply(deployment("shop", "web", { docker_options: ["--pid", "host", "--ipc", "private"] }));
  const swapped = { docker_options: ["--pid", "host", "--ipc", "host"] };
  await expectFailure(confined(deployment("shop", "web", swapped)), "forbidden");
  await confined(deployment("shop", "web", { docker_options: ["--ipc", "private", "--pid", "host"] }));
  await confined(deployment("shop", "web", { docker_options: ["--pid", "host"] }));
});

test("what was taken away does not come back by a rollback or an abort", async () => {
  const key = { scope: "shop", name: "web" };
  await it.apply(deployment("shop", "web", { volumes: ["/srv:/data"] }));
  await it.settle();
  await it.apply(deployment("shop", "web", { env: { A: "1" } }));
  await it.settle();
  for (const dryRun of [true, false]) {
    const back = it.controller.rollback({ ...key, releaseId: undefined }, { actor: "pat:a", by, dryRun });
    await expectFailure(back, "forbidden");
  }
  await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "root", by: operator });
  await it.settle();
  expect(it.store.manifests.get({ kind: "deployment", ...key })?.spec.volumes).toEqual(["/srv:/data"]);
});
