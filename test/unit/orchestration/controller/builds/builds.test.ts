import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextDigest } from "../../../../../src/base/pure/source-tree.ts";
import { readFolder } from "../../../../../src/client/build/folder.ts";
import { packFolder } from "../../../../../src/client/build/pack.ts";
import type { ImageBuild } from "../../../../../src/orchestration/engine/machine.ts";
import { expectFailure } from "../../../../support/failure.ts";
import type { MemoryRuntime } from "../../../../support/memory-runtime.ts";
import { waitFor } from "../../../../support/wait.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
let context: string;
beforeEach(async () => {
  it = await world();
  await upload();
});
afterEach(() => it.close());

async function upload() {
  const root = mkdtempSync(join(tmpdir(), "builds-"));
  writeFileSync(join(root, "Dockerfile"), "FROM scratch\n");
  const folder = await readFolder(root, [], { filesMax: 10, bytesMax: 10_000, textBytesMax: 1_000_000 });
  context = contextDigest(folder.entries);
  const bytes = Buffer.concat(await Array.fromAsync(packFolder(folder)));
  await it.controller.uploadContext(context, bytes, { offset: 0, last: true });
  rmSync(root, { recursive: true });
}

const options = { actor: "ana" };
const request = (more = {}) => ({ scope: "shop", name: "web", context, ...more });
const built = () => it.runtime.calls.filter((call) => call.startsWith("build ")).length;

test("builds of the same input that are asked for at the same moment build once", async () => {
  const all = await Promise.all(Array.from({ length: 5 }, () => it.controller.build(request(), options)));
  expect(built()).toBe(1);
  expect(all.map(({ reused }) => reused).sort()).toEqual([false, true, true, true, true]);
  expect(new Set(all.map(({ build }) => build.image_id)).size).toBe(1);
  const detached = { ...options, detached: true };
  const other = request({ args: { A: "1" } });
  await Promise.all(Array.from({ length: 5 }, () => it.controller.build(other, detached)));
  await waitFor("the build", () =>
    it.store.builds.list({ scope: "shop" }, 10).every(({ status }) => status === "succeeded"),
  );
  expect(built()).toBe(2);
});

test("a running build can be cancelled, also one that others wait for", async () => {
  const held = request({ args: { HOLD: "true" } });
  const first = expectFailure(it.controller.build(held, options), "conflict");
  const target = await waitFor("the build to run", () => {
    const [record] = it.store.builds.list({ scope: "shop" }, 10);
    return record?.status === "building" ? { scope: "shop", name: "web", id: record.id } : undefined;
  });
  const leaving = new AbortController();
  const second = it.controller.build(held, { ...options, signal: leaving.signal }).catch(() => "left");
  leaving.abort(new Error("the client left"));
  expect(await second).toBe("left");
  expect((await it.controller.cancelBuild(target)).build).toMatchObject({ status: "canceled" });
  expect((await first).message).toContain("the build was cancelled");
  expect((await expectFailure(it.controller.cancelBuild(target), "conflict")).message).toContain("canceled");
});

test("a build gets the proxy of the site as arguments, unless its own say otherwise, and stays the same build", async () => {
  const given: unknown[] = [];
  const buildArguments = { http_proxy: "http://p:1", HTTP_PROXY: "http://p:1" };
  const wrapRuntime = (runtime: MemoryRuntime) => ({
    ...runtime,
    build: (asked: ImageBuild) => {
      given.push(asked.args);
      return runtime.build(asked);
    },
  });
  await it.close();
  it = await world({ buildArguments, wrapRuntime });
  await upload();
  await it.controller.build(request({ args: { A: "1" } }), options);
  await it.controller.build(request({ args: { HTTP_PROXY: "" } }), options);
  expect(given).toEqual([
    { ...buildArguments, A: "1" },
    { ...buildArguments, HTTP_PROXY: "" },
  ]);
  expect((await it.controller.build(request({ args: { A: "1" } }), options)).reused).toBe(true);
});
