import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const anHourAndMore = 65 * 60_000;
const web = (spec: Spec = {}) => deployment("shop", "web", { image: "app:1", ...spec });
const kept = async () =>
  (await it.runtime.listImages()).flatMap(({ id, tags }) =>
    tags.filter((tag) => tag.startsWith("berth-kept/")).map((tag) => `${tag} ${id}`),
  );
const hex = (digit: string) => `sha256:${digit.repeat(64)}`;
const tagOf = (digit: string, app = "shop-web") => `berth-kept/image:${app}-${digit.repeat(12)} ${hex(digit)}`;

test("the image of each release that can come back has a name of the platform's own, and no container is made from it", async () => {
  it.runtime.addImage("app:1", { id: hex("a") });
  await it.apply(web());
  await it.settle();
  expect(await kept()).toEqual([tagOf("a")]);
  it.runtime.addImage("app:1", { id: hex("b") });
  await it.apply(web({ env: { A: "1" } }));
  await it.settle();
  expect((await kept()).sort()).toEqual([tagOf("a"), tagOf("b")]);
  await it.controller.rollback({ name: "web", releaseId: undefined }, { actor: "ana" });
  await it.settle();
  const { containers } = { containers: it.runtime.containers() };
  expect(containers.map(({ imageId, image }) => [imageId, image])).toEqual([[hex("a"), hex("a")]]);
});

test("the names stay while the app is scaled to 0, and go when it is deleted", async () => {
  it.runtime.addImage("app:1", { id: hex("a") });
  await it.apply(web());
  await it.settle();
  await it.apply(web({ replicas: 0 }));
  await it.settle();
  await it.advance(anHourAndMore);
  expect(await kept()).toEqual([tagOf("a")]);
  await it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: false, actor: "ana" });
  await it.advance(anHourAndMore);
  expect([await kept(), (await it.runtime.inspectImage("app:1"))?.id]).toEqual([[], hex("a")]);
});

test("berth prune removes the names of releases that are gone, and what was pulled for them", async () => {
  it.runtime.addRemoteImage("app:1", { id: hex("a") });
  await it.apply(web());
  await it.settle();
  await it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: false, actor: "ana" });
  await it.quiet();
  expect((await it.controller.prune({ actor: "ana" })).images.map(({ id }) => id)).toEqual([hex("a")]);
  expect([await kept(), await it.runtime.inspectImage("app:1")]).toEqual([[], undefined]);
});

test("a server that finds images without names, as after an upgrade, adds them and makes no container anew", async () => {
  it.runtime.addImage("app:1", { id: hex("a") });
  await it.apply(web());
  await it.settle();
  const before = it.runtime.containers().map(({ id }) => id);
  const [name = ""] = (await kept()).map((row) => row.split(" ")[0] ?? "");
  await it.runtime.removeImage(name);
  expect(await kept()).toEqual([]);
  await it.restart();
  await it.advance(60_000);
  expect([await kept(), it.runtime.containers().map(({ id }) => id)]).toEqual([[tagOf("a")], before]);
});

test("images of jobs and inits have names, also where the name of an app is none of a repository", async () => {
  it.runtime.addImage("app:1", { id: hex("a") });
  it.runtime.addImage("tools:1", { id: hex("c") });
  await it.apply([
    deployment("shop", "a._b", { image: "app:1", inits: [{ name: "x", image: "tools:1", command: ["go"] }] }),
    { kind: "job", scope: "shop", name: "report", spec: { image: "app:1", command: ["go"] } },
  ]);
  await it.controller.runJob({ kind: "job", name: "report" }, { wait: false, actor: "ana" });
  await it.quiet();
  expect((await kept()).sort()).toEqual(
    [tagOf("a", "shop-a._b"), tagOf("a", "shop-report"), tagOf("c", "shop-a._b")].sort(),
  );
});

test("a name that cannot be removed yet is removed later", async () => {
  it.runtime.addImage("app:1", { id: hex("a") });
  await it.apply(web());
  await it.settle();
  await it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: false, actor: "ana" });
  it.runtime.fail("removeImage", new Failure("conflict", "a container uses it"), 1);
  await it.advance(anHourAndMore);
  await it.advance(anHourAndMore);
  expect(await kept()).toEqual([]);
});
