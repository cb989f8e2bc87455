import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { deployment, job } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const { label } = naming();
const withData = { volumes: ["data:/data"] };
const volumes = () => it.runtime.listVolumes({}).then((all) => all.map(({ name }) => name).sort());

async function applied(...manifests: Parameters<World["apply"]>[0][]): Promise<string[]> {
  const { warnings = [] } = await it.apply(manifests.flat());
  await it.settle();
  return warnings;
}

async function mountOf(scope: string, name = "web"): Promise<string | undefined> {
  const [container] = await it.runtime.observe({ scope, name });
  const { mounts = [] } = (await it.runtime.inspect(podRef(container?.id ?? ""))) ?? {};
  return mounts[0]?.source;
}

/** What the migration of a database of before leaves behind: the volume keeps its plain name. */
async function usedBefore(...scopes: string[]): Promise<void> {
  it.runtime.addVolumeByHand("data");
  const use = { kind: "deployment", name: "web", volume: "data", plain: true, createdAt: 1 };
  await it.store.write((tx) => {
    for (const scope of scopes) tx.namedVolumes.put({ ...use, scope, owner: scope });
  });
}

/** A delete that wipes, carried to its end. */
async function pruned(scope: string, name: string) {
  const target = keyOf("deployment", scope, name);
  const deleting = it.controller.deleteManifest(target, { prune: true, actor: "ana" });
  await it.advance(1_000);
  return (await deleting).pruned;
}

describe("a volume belongs to the scope that names it", () => {
  test("two scopes with the same name have two volumes, which carry labels", async () => {
    expect(await applied(deployment("shop", "web", withData), deployment("blog", "web", withData))).toEqual([]);
    expect(await volumes()).toEqual(["berth_blog_data", "berth_shop_data"]);
    expect((await it.runtime.inspectVolume("berth_shop_data"))?.labels).toEqual({
      [label.createdBy]: "berth",
      [label.installation]: it.store.installationId,
      [label.scope]: "shop",
      [label.volume]: "data",
    });
  });

  test("the apps, jobs and releases of one scope share it", async () => {
    await applied(deployment("shop", "web", withData), deployment("shop", "worker", withData));
    await applied(job("shop", "sync", { ...withData, command: ["true"] }));
    const running = it.controller.runJob({ kind: "job", scope: "shop", name: "sync" }, { wait: false, actor: "ana" });
    await it.advance(1_000);
    await running;
    expect(await volumes()).toEqual(["berth_shop_data"]);
  });

  test("scope/name is the volume of that scope, and both plans and applies say so", async () => {
    await applied(deployment("blog", "web", withData));
    const guest = deployment("shop", "web", { volumes: ["blog/data:/data:ro"] });
    const text = 'deployment/shop/web: spec.volumes[0]: "blog/data" is the volume of scope "blog"; both see it';
    expect((await it.apply(guest, { dryRun: true })).warnings).toEqual([text]);
    expect(await applied(guest)).toEqual([text]);
    expect(await volumes()).toEqual(["berth_blog_data"]);
  });

  test("external is the engine's own volume, and is not made", async () => {
    await it.apply(deployment("shop", "web", { volumes: ["nfs:/data:external"] }));
    await it.advance(2_000);
    const { last_reconcile_error: error } = await it.status("deployment", "shop", "web");
    expect(error).toContain('volume "nfs" is external and the engine has none');
    it.runtime.addVolumeByHand("nfs");
    await it.settle();
    expect(await volumes()).toEqual(["nfs"]);
    expect((await it.runtime.inspectVolume("nfs"))?.labels).toEqual({});
  });
});

describe("volumes of before they belonged to scopes", () => {
  test("go on being used, also once the app is changed or applied anew", async () => {
    await usedBefore("shop");
    await applied(deployment("shop", "web", withData));
    expect(await mountOf("shop")).toEndWith("data");
    await applied(deployment("shop", "web", { ...withData, env: { A: "2" } }), deployment("shop", "worker", withData));
    await it.controller.deleteManifest(keyOf("deployment", "shop", "web"), { prune: false, actor: "ana" });
    await it.settle();
    await applied(deployment("shop", "web", { ...withData, env: { A: "3" } }));
    expect(await volumes()).toEqual(["data"]);
    await applied(deployment("blog", "web", withData));
    expect(await volumes()).toEqual(["berth_blog_data", "data"]);
  });

  test("that two scopes share stay shared, and the plan warns", async () => {
    await usedBefore("shop", "blog");
    const both = [deployment("shop", "web", withData), deployment("blog", "web", withData)];
    const told = (await it.apply(both, { dryRun: true })).warnings ?? [];
    expect(told[0]).toStartWith(
      'deployment/shop/web: spec.volumes[0]: volume "data" is also that of deployment/blog/web, from before',
    );
    expect(told).toHaveLength(2);
    await applied(both);
    expect(await volumes()).toEqual(["data"]);
  });
});

describe("a delete with prune", () => {
  test("removes the volume with its last user, and says what it keeps until then", async () => {
    await applied(deployment("shop", "web", withData), deployment("shop", "worker", withData));
    expect(await pruned("shop", "web")).toMatchObject({
      volumes_removed: [],
      volumes_kept: ["berth_shop_data: deployment/shop/worker has it too"],
    });
    const last = await pruned("shop", "worker");
    expect(last).toMatchObject({ volume_removed: true, volumes_removed: ["berth_shop_data"], errors: [] });
    expect(last.volumes_kept).toBeUndefined();
    expect(await volumes()).toEqual([]);
    expect(it.store.namedVolumes.all()).toEqual([]);
  });

  test("keeps what is not tied to one scope, and says how it is removed", async () => {
    await usedBefore("shop");
    await applied(deployment("shop", "web", { volumes: ["data:/data", "berth-shop-web-backups:/backups"] }));
    expect((await pruned("shop", "web")).volumes_kept).toEqual([
      "berth-shop-web-backups: its name does not tie it to one scope; to remove it: docker volume rm berth-shop-web-backups",
      "data: its name does not tie it to one scope; to remove it: docker volume rm data",
    ]);
    expect(await volumes()).toEqual(["berth-shop-web-backups", "data"]);
  });

  const borrowing = { volumes: ["shop/data:/data"] };
  const leftovers = async () => (await it.controller.listLeftovers({ scope: undefined, name: undefined })).leftovers;

  test("of the owner, while another scope has the volume: the owner can still remove it afterwards", async () => {
    await applied(deployment("shop", "web", withData), deployment("blog", "two", borrowing));
    expect((await pruned("shop", "web")).volumes_kept).toEqual(["berth_shop_data: deployment/blog/two has it too"]);
    expect(await leftovers()).toEqual([]);
    expect((await pruned("blog", "two")).volumes_kept).toEqual([
      "berth_shop_data: it belongs to scope shop; to remove it: berth delete shop/web --prune",
    ]);
    expect(await leftovers()).toMatchObject([{ scope: "shop", name: "web", volumes: ["berth_shop_data"], kept: [] }]);
    expect((await pruned("shop", "web")).volumes_removed).toEqual(["berth_shop_data"]);
    expect([await volumes(), await leftovers(), it.store.namedVolumes.all()]).toEqual([[], [], []]);
  });

  test("of the owner removes what a deleted app of another scope had too, and what that left names the owner", async () => {
    await applied(deployment("shop", "web", withData), deployment("blog", "two", borrowing));
    const target = keyOf("deployment", "blog", "two");
    await it.controller.deleteManifest(target, { prune: false, actor: "ana" });
    await it.settle();
    expect(await leftovers()).toEqual([]);
    expect((await pruned("shop", "web")).volumes_removed).toEqual(["berth_shop_data"]);
    expect(it.store.namedVolumes.all()).toEqual([]);
  });

  test("of a borrower never removes it, and where the owner has no app the way is docker's", async () => {
    await applied(deployment("blog", "two", borrowing));
    await it.controller.deleteManifest(keyOf("deployment", "blog", "two"), { prune: false, actor: "ana" });
    await it.settle();
    expect(await leftovers()).toMatchObject([
      { scope: "shop", name: "", volumes: [], kept: ["berth_shop_data: docker volume rm berth_shop_data"] },
    ]);
    await applied(deployment("blog", "two", borrowing));
    expect((await pruned("blog", "two")).volumes_kept).toEqual([
      "berth_shop_data: it belongs to scope shop; to remove it: docker volume rm berth_shop_data",
    ]);
  });

  test("a plain volume is listed as one that no prune removes", async () => {
    await usedBefore("shop");
    await applied(deployment("shop", "web", withData));
    await it.controller.deleteManifest(keyOf("deployment", "shop", "web"), { prune: false, actor: "ana" });
    await it.settle();
    expect(await leftovers()).toMatchObject([
      { scope: "shop", name: "web", volumes: [], kept: ["data: docker volume rm data"] },
    ]);
  });

  test("an app that comes back right away begins with an empty volume", async () => {
    await applied(deployment("shop", "web", withData));
    const deleting = it.controller.deleteManifest(keyOf("deployment", "shop", "web"), { prune: true, actor: "ana" });
    await it.apply(deployment("shop", "web", withData));
    await it.settle();
    expect((await deleting).pruned.volumes_removed).toEqual(["berth_shop_data"]);
    expect(await volumes()).toEqual(["berth_shop_data"]);
    expect(it.store.namedVolumes.all()).toHaveLength(1);
  });
});
