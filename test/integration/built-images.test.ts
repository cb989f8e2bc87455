import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { sha256Hex } from "../../src/base/pure/digest.ts";
import { contextDigest } from "../../src/base/pure/source-tree.ts";
import { limits } from "../../src/config/config.ts";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { fixtureImage, requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { deployment } from "../support/manifests.ts";
import { type Plane, startPlaneOn } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

setDefaultTimeout(120_000);

let yard: Scratch;
let plane: Plane<Engine>;
let scope: string;
const folder = mkdtempSync(join(tmpdir(), "built-"));
/** The server looks for unused images all the time. A built image stays for a while, which a test ends. */
const own = { ...limits, resyncMs: 20 };

beforeAll(async () => {
  yard = scratch();
  const { names } = yard;
  scope = yard.unique("shop");
  const layout = layoutOf(folder);
  mkdirSync(layout.builds, { recursive: true });
  plane = await startPlaneOn(
    (_, installationId) => createDockerEngine({ host: requireDocker(), installationId, names }),
    { names, layout, limits: own },
  );
});
afterAll(async () => {
  await plane?.close();
  await yard?.cleanUp();
  rmSync(folder, { recursive: true, force: true });
});

/** Builds a version of the app, and returns the id of the build and of its image. */
async function build(version: string): Promise<{ id: string; image: string }> {
  const dockerfile = `FROM ${fixtureImage}\nLABEL version=${version}\nCMD ["sleep", "1000"]\n`;
  const tar = pack();
  tar.entry({ name: "Dockerfile", mode: 0o644 }, dockerfile);
  tar.finalize();
  const bytes = gzipSync(Buffer.concat((await Array.fromAsync(tar)) as Uint8Array[]));
  const context = contextDigest([{ path: "Dockerfile", kind: "file", mode: 0o644, digest: sha256Hex(dockerfile) }]);
  await plane.controller.uploadContext(context, bytes, { offset: 0, last: true });
  const { build: made } = await plane.controller.build({ scope, name: "web", context }, { actor: "test" });
  const image = await plane.runtime.inspectImage(made.image);
  return { id: made.id, image: image?.id ?? "" };
}

const key = { kind: "deployment", name: "web" };
const isThere = async (image: string) => (await plane.runtime.inspectImage(image)) !== undefined;
const runsOn = async (image: string) => {
  const ready = async () => {
    const { pods } = await plane.controller.describe({ ...key, scope });
    const found = await Promise.all(pods.map(({ name }) => plane.runtime.inspect(podRef(name))));
    return found.length === 1 && found.every((one) => one?.imageId === image && one.state === "running");
  };
  await waitFor("the replica", ready);
  await waitFor(
    "the release",
    () => plane.store.releases.list({ ...key, kind: "deployment", scope })[0]?.good === true,
  );
};
const applied = async ({ id, image }: { id: string; image: string }) => {
  const manifest = deployment(scope, "web", { image: undefined, build: { id }, rollout: { min_ready: "0s" } });
  const options = { dryRun: false, prune: false, force: false, actor: "test" };
  await plane.controller.apply(JSON.parse(JSON.stringify(manifest)), options);
  await runsOn(image);
};

test("a built image that nothing uses goes by itself; what runs, a way back, and what has another name stay", async () => {
  const [first, second] = [await build("1"), await build("2")];
  await applied(first);
  await applied(second);
  const [third, named] = [await build("3"), await build("4")];
  await yard.docker.getImage(named.image).tag({ repo: yard.unique("mine"), tag: "1" });
  const all = [first, second, third, named].map(({ image }) => image);
  expect(new Set(all).size).toBe(4);
  expect(await Promise.all(all.map(isThere))).toEqual([true, true, true, true]);

  // Until now it could have been about to be applied.
  own.builtImageGraceMs = 0;
  await waitFor("the third image to go", async () => !(await isThere(third.image)));
  expect(await Promise.all([first.image, second.image, named.image].map(isThere))).toEqual([true, true, true]);

  await plane.controller.rollback({ ...key, scope, releaseId: undefined }, { actor: "test" });
  await runsOn(first.image);
  await plane.controller.deleteScope(scope, { prune: true, actor: "test" });
  await waitFor("all images to go", async () => !(await isThere(first.image)) && !(await isThere(second.image)));
  expect(await isThere(named.image)).toBe(true);
  await yard.docker.getImage(named.image).remove({ force: true });
});
