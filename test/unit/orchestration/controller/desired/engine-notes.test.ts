import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { expectFailure } from "../../../../support/failure.ts";
import { cronjob, deployment } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.settle();
});
afterEach(() => it.close());

const tried = async (spec: object) =>
  (await it.apply(deployment("shop", "web", { ...spec }), { dryRun: true })).warnings ?? [];

describe("what only the engine knows is told by the plan", () => {
  test("a network that is not there", async () => {
    const [told, ...others] = await tried({ networks: ["backnd"] });
    expect(told).toStartWith('deployment/shop/web: spec.networks[0]: Docker has no network "backnd" yet');
    expect(others).toEqual([]);
    await it.apply(deployment("shop", "web", { networks: ["backnd"] }));
    await it.settle();
    expect(await tried({ networks: ["backnd"], env: { A: "1" } })).toEqual([]);
  });

  test("an external volume that is not there, and a plain one that is not meant", async () => {
    expect(await tried({ volumes: ["nfs:/nfs:external"] })).toEqual([
      'deployment/shop/web: spec.volumes[0]: Docker has no volume "nfs"; docker volume create nfs',
    ]);
    it.runtime.addVolumeByHand("nfs");
    expect(await tried({ volumes: ["nfs:/nfs:external"] })).toEqual([]);
    expect((await tried({ volumes: ["nfs:/nfs"] }))[0]).toContain('add ":external" to use that one');
  });

  test("a host path that is not there, once however often it is mounted, and not what is there", async () => {
    const volumes = [
      "/srv/app.conf:/etc/app.conf:ro",
      "/srv/app.conf:/etc/other.conf",
      "/srv/data:/data",
      "cache:/cache",
    ];
    expect(await tried({ volumes })).toEqual([]);
    it.runtime.setHostPaths(["/srv/data"]);
    const told =
      "spec.volumes[0]: there is no /srv/app.conf on this server; Docker makes an empty folder there, owned by root, even where the app expects a file";
    expect(await tried({ volumes })).toEqual([`deployment/shop/web: ${told}`]);
    const nightly = cronjob("shop", "nightly", {}, { volumes });
    expect((await it.apply(nightly, { dryRun: true })).warnings).toEqual([
      `cronjob/shop/nightly: ${told.replace("spec.", "spec.job.")}`,
    ]);
    it.runtime.setHostPaths(["/srv/data", "/srv/app.conf"]);
    expect(await tried({ volumes })).toEqual([]);
  });

  test("telemetry that this server does not take", async () => {
    expect(await tried({ telemetry: true })).toEqual([
      "deployment/shop/web: spec.telemetry: this server takes no telemetry, because it runs with --telemetry-port off",
    ]);
  });

  test("an engine without the program for init, where one is useful", async () => {
    const probes = { liveness: { exec: { command: ["true"] } } };
    expect([...(await tried({ probes })), ...(await tried({ init: true }))]).toEqual([]);
    it.runtime.setHasInit(false);
    const [told] = await tried({ probes });
    expect(told).toStartWith("deployment/shop/web: spec.probes: Docker has no docker-init on this server");
    expect((await tried({ init: true }))[0]).toStartWith(
      "deployment/shop/web: spec.init: Docker has no docker-init on this server, so the container cannot start",
    );
    expect([...(await tried({ probes, init: false })), ...(await tried({}))]).toEqual([]);
    await it.apply(deployment("shop", "web", { probes }));
    await it.settle();
    expect(JSON.stringify(it.events("replica.create"))).toContain("Docker has no docker-init on this server");
  });

  test("more CPUs than the machine has, as a refusal", async () => {
    const resources = { limits: { cpu: "64" } };
    const error = await expectFailure(it.apply(deployment("shop", "web", { resources })), "invalid");
    expect(error.message).toContain('spec.resources.limits.cpu: "64" is more than the 4 CPUs of this machine');
    const nightly = it.apply(cronjob("shop", "nightly", {}, { resources }));
    expect((await expectFailure(nightly, "invalid")).message).toContain("spec.job.resources.limits.cpu");
  });

  test("nothing is asked, and nothing refused, while the engine is away", async () => {
    it.runtime.engineDown();
    await it.advance(5_000);
    expect(await tried({ networks: ["backnd"] })).toEqual([]);
  });
});

test("a config value that no process can be started with is told by the plan and by the reason", async () => {
  const value = "a".repeat(200_000);
  await it.controller.setConfig({ scope: "shop", name: "web" }, { BIG: value }, { restart: false, actor: "ana" });
  const { plan } = await it.apply(deployment("shop", "web"), { dryRun: true });
  expect(plan?.[0]?.notes[0]).toStartWith("spec.env.BIG: is 200004 bytes long, and no process can be started");
  await it.apply(deployment("shop", "web"));
  await it.advance(2_000);
  expect((await it.status("deployment", "shop", "web")).last_reconcile_error).toContain(
    "spec.env.BIG: is 200004 bytes",
  );
  await it.controller.unsetConfig({ scope: "shop", name: "web", key: "BIG" }, { restart: true, actor: "ana" });
  await it.settle();
});
