import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply(db());
  await it.settle();
});
afterEach(() => it.close());

const volume = "berth-shop-db-data-1";
const { label } = naming();
const db = (spec = {}) =>
  statefulset("shop", "db", { replicas: 2, volume_claims: [{ name: "data", mount_path: "/data" }], ...spec });
const status = () => it.status("statefulset", "shop", "db");
const reason = async () => (await status()).conditions.find(({ type }) => type === "Progressing")?.reason;
const labels = async () => (await it.runtime.inspectVolume(volume))?.labels;

/** The pod of ordinal 1 is gone, and so is its volume. */
async function lose(): Promise<void> {
  it.runtime.removeByHand("shop-db.1");
  it.runtime.removeVolumeByHand(volume);
  await it.advance(20_000);
}

describe("the volume of an ordinal", () => {
  test("says whose it is", async () => {
    expect(await labels()).toEqual({
      [label.createdBy]: "berth",
      [label.installation]: it.store.installationId,
      [label.kind]: "statefulset",
      [label.scope]: "shop",
      [label.name]: "db",
      [label.claim]: "data",
      [label.replicaOrdinal]: "1",
    });
  });

  test("that was made once and is gone is named, never replaced by an empty one", async () => {
    await lose();
    expect(await reason()).toBe("VolumeMissing");
    expect(await status()).toMatchObject({ phase: "failing", ready_replicas: 1 });
    expect((await status()).last_reconcile_error).toContain(
      `volume "${volume}" was made for this pod and is gone; this server knows of no copy of it: berth backup list asks the targets, or start empty with berth delete shop/db.1 --prune --no-backup`,
    );
    await it.restart();
    await it.advance(30 * 60_000);
    expect(await it.runtime.inspectVolume(volume)).toBeUndefined();
    expect(it.containers()).toEqual(["shop-db.0"]);
  });

  test("heals when it is brought back, also without labels", async () => {
    await lose();
    it.runtime.addVolumeByHand(volume);
    await it.settle();
    expect(it.containers()).toEqual(["shop-db.0", "shop-db.1"]);
  });

  test("heals when the operator wants to start empty", async () => {
    await lose();
    const { summary } = await it.controller.deleteResource(
      { scope: "shop", name: "db", ordinal: "1" },
      { prune: true, actor: "ana" },
    );
    expect(summary).toEqual({ container_removed: false, volumes_removed: [volume], errors: [] });
    await it.settle();
    expect(it.containers()).toEqual(["shop-db.0", "shop-db.1"]);
    expect(await labels()).toMatchObject({ [label.replicaOrdinal]: "1" });
  });

  test("of somebody else is never mounted", async () => {
    it.runtime.addVolumeByHand("berth-shop-db-data-2", { [label.scope]: "shop", [label.name]: "other" });
    await it.apply(db({ replicas: 3 }));
    await it.advance(20_000);
    expect(await reason()).toBe("VolumeForeign");
    expect(it.containers()).toEqual(["shop-db.0", "shop-db.1"]);
    it.runtime.removeVolumeByHand("berth-shop-db-data-2");
    await it.settle();
    expect(it.containers()).toHaveLength(3);
  });
});

describe("a host port that is taken", () => {
  const at = (name: string) => deployment("shop", name, { ports: ["8080:80"] });

  test("is named, leaves no container behind, and heals when it is free", async () => {
    await it.apply(at("first"));
    await it.settle();
    await it.apply(at("second"));
    await it.advance(20_000);
    const second = await it.status("deployment", "shop", "second");
    expect(second).toMatchObject({ phase: "failing", last_reconcile_error: expect.stringContaining("host port 8080") });
    expect(second.conditions.find(({ type }) => type === "Degraded")).toMatchObject({ reason: "PortTaken" });
    expect(it.containers().filter((name) => name.startsWith("shop-second"))).toEqual([]);
    await it.controller.deleteManifest({ kind: "deployment", name: "first" }, { prune: false, actor: "ana" });
    await it.settle();
    expect(it.containers().filter((name) => name.startsWith("shop-second"))).toHaveLength(1);
  });

  test("by the time a stopped container is healed keeps that container for later", async () => {
    await it.apply(at("first"));
    await it.settle();
    const [name = ""] = it.containers().filter((row) => row.startsWith("shop-first"));
    await it.controller.stopPod(name, { freeze: false, actor: "ana" });
    await it.apply(at("second"));
    for (let seconds = 0; seconds < 30; seconds += 1) {
      await it.advance(1_000);
      const shown = await it.status("deployment", "shop", "first");
      if (seconds >= 5) expect(shown.last_reconcile_error).toContain("host port 8080");
      if (seconds >= 5) expect(Date.parse(shown.next_retry_at ?? "")).toBeGreaterThan(it.clock.now());
    }
    expect(await it.status("deployment", "shop", "first")).toMatchObject({ phase: "failing", attempts: 5 });
    expect(it.containers()).toContain(name);
    await it.controller.deleteManifest({ kind: "deployment", name: "second" }, { prune: false, actor: "ana" });
    await it.settle();
    expect(it.controller.podReady(name).ready).toBe(true);
  });
});
