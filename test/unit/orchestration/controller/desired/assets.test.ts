import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { sha256Hex } from "../../../../../src/base/pure/digest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const asset = (files: Spec, name = "conf") => ({ kind: "asset", scope: "shop", name, spec: { files } });
const reader = (name = "web", ref = "asset.conf.app") => deployment("shop", name, { volumes: [`\${${ref}}:/etc/app`] });
const digestOf = (text: string) => sha256Hex(new TextEncoder().encode(text));
const stamps = (name = "web") => it.store.manifests.get(keyOf("deployment", "shop", name))?.spec._asset_digests;
const sourceOf = (name: string) =>
  it.runtime.containers().find((container) => container.name.startsWith(`shop-${name}.`))?.mounts[0]?.source ?? "";

describe("files of an asset", () => {
  test("are on disk before anything refers to them, and their digests on the readers", async () => {
    it = await world();
    await it.apply([reader(), asset({ app: "one", logo: { _source: "file", content: btoa("\0png") } })]);
    expect(stamps()).toEqual({ "conf.app": digestOf("one") });
    await it.settle();
    expect(readFileSync(sourceOf("web"), "utf8")).toBe("one");
    const { status } = await it.describe("asset", "shop", "conf");
    expect(status).toMatchObject({
      phase: "ready",
      files: { app: digestOf("one"), logo: digestOf("\0png") },
      errors: {},
    });
  });

  test("roll readers when they change, inside the apply and outside of it", async () => {
    it = await world();
    await it.apply([asset({ app: "one" }), reader("web"), reader("other"), deployment("shop", "bystander")]);
    await it.settle();
    const before = it.containers();
    const { applied } = await it.apply(asset({ app: "two" }));
    expect(applied.map(({ kind }) => kind)).toEqual(["asset"]);
    await it.settle();
    expect([stamps("web"), stamps("other")]).toEqual([
      { "conf.app": digestOf("two") },
      { "conf.app": digestOf("two") },
    ]);
    expect(readFileSync(sourceOf("other"), "utf8")).toBe("two");
    expect(it.containers().filter((name) => before.includes(name))).toEqual([
      expect.stringContaining("shop-bystander."),
    ]);
    expect(it.events("asset.changed").map(({ name, actor }) => [name, actor])).toEqual([
      ["other", "test"],
      ["web", "test"],
    ]);
  });

  test("roll readers when their mode changes", async () => {
    it = await world();
    await it.apply([asset({ app: "one" }), reader()]);
    await it.settle();
    const [before] = it.runtime.containers();
    const program = { ...asset({ app: "one" }), spec: { files: { app: "one" }, modes: { app: "0755" } } };
    const changes = async () => JSON.stringify(await it.apply(program, { dryRun: true }));
    expect(await changes()).toContain("_asset_digests");
    await it.apply(program);
    await it.settle();
    const [after] = it.runtime.containers();
    expect(after?.id).not.toBe(before?.id);
    expect(statSync(sourceOf("web")).mode & 0o777).toBe(0o755);
    expect(readFileSync(sourceOf("web"), "utf8")).toBe("one");
    expect(stamps()).not.toEqual({ "conf.app": digestOf("one") });
    expect(await changes()).not.toContain("_asset_digests");
  });

  test("of an unscoped asset stand in where the own scope has none", async () => {
    it = await world();
    await it.apply({ kind: "asset", name: "conf", spec: { files: { app: "shared" } } });
    await it.apply(reader());
    expect(stamps()).toEqual({ "conf.app": digestOf("shared") });
    await it.apply(asset({ app: "own" }));
    expect(stamps()).toEqual({ "conf.app": digestOf("own") });
  });

  test("cannot be taken away from who reads them", async () => {
    it = await world();
    await it.apply([asset({ app: "one" }), reader()]);
    const error = await expectFailure(it.apply(asset({ other: "one" })), "invalid");
    expect(error.message).toContain('deployment/shop/web reads "conf.app" in spec.volumes[0], which this takes away');
    expect(stamps()).toEqual({ "conf.app": digestOf("one") });
    const pruning = it.apply([asset({ a: "1" }, "fresh"), reader()], { prune: true });
    expect((await expectFailure(pruning, "invalid")).message).toContain("names no asset file");
  });

  test("that were deleted stay what their readers run with, and do not stand in the way of others", async () => {
    it = await world();
    await it.apply([
      asset({ app: "one" }),
      asset({ app: "gone" }, "lost"),
      deployment("shop", "web", { volumes: ["${asset.conf.app}:/etc/app", "${asset.lost.app}:/etc/lost"] }),
    ]);
    await it.controller.deleteManifest({ kind: "asset", scope: "shop", name: "lost" }, { prune: false, actor: "test" });
    await it.apply(asset({ app: "two" }));
    expect(stamps()).toEqual({ "conf.app": digestOf("two"), "lost.app": digestOf("gone") });
    await it.settle();
    expect(it.containers()).toHaveLength(1);
  });

  test("stamped by a client count for nothing", async () => {
    it = await world();
    await it.apply(asset({ app: "one" }));
    await it.apply(deployment("shop", "web", { _asset_digests: { "conf.app": "0".repeat(64) } }));
    expect(stamps()).toBeUndefined();
  });

  test("also reach statefulsets and depends_on", async () => {
    it = await world();
    await it.apply([asset({ app: "one" }), statefulset("shop", "db", { depends_on: { assets: ["conf.app"] } })]);
    await it.settle();
    const [before] = it.runtime.containers();
    await it.apply(asset({ app: "two" }));
    await it.settle();
    expect(it.runtime.containers()[0]?.id).not.toBe(before?.id);
  });
});

describe("files that were edited or removed by hand", () => {
  test("are written again within a deep resync", async () => {
    it = await world();
    await it.apply(asset({ app: "one", more: "two" }));
    await it.settle();
    const { path } = it.assets;
    writeFileSync(path(digestOf("one")), "edited");
    rmSync(path(digestOf("two")));
    await it.advance(11 * 60_000);
    expect(readFileSync(path(digestOf("one")), "utf8")).toBe("one");
    expect(readFileSync(path(digestOf("two")), "utf8")).toBe("two");
  });

  test("never reach a new container: they are mended first, and soon", async () => {
    it = await world();
    await it.apply([asset({ app: "one" }), reader()]);
    await it.settle();
    const file = sourceOf("web");
    writeFileSync(file, "edited");
    await it.apply(deployment("shop", "web", { volumes: ["${asset.conf.app}:/etc/app"], replicas: 2 }));
    await it.settle(10_000);
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(it.containers()).toHaveLength(2);
  });
});
