import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Mount } from "../../src/orchestration/core/workload.ts";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { outputOf } from "../contract/runtime-inside.ts";
import { containerSpec } from "../support/container-spec.ts";
import { fixtureImage, requireDocker, type Scratch, scratch } from "../support/docker.ts";
import type { PodRef } from "../../src/orchestration/engine/pod.ts";

setDefaultTimeout(30_000);

/** Who owns the root folders of volumes, with containers of a real engine. */
describe("docker volume owners", () => {
  let place: Scratch;
  let runtime: Engine;
  let made = 0;
  beforeAll(() => {
    place = scratch();
    runtime = createDockerEngine({ host: requireDocker(), installationId: place.installationId, names: place.names });
  });
  afterAll(async () => {
    await place.cleanUp();
    runtime.close();
  });

  async function volume(): Promise<string> {
    made += 1;
    const name = place.unique(`volume${made}`);
    await runtime.ensureVolume(name, {});
    return name;
  }

  const mountOf = (source: string, change: Partial<Mount> = {}): Mount => ({
    type: "volume",
    source,
    target: "/data",
    readOnly: false,
    owner: { uid: 1000, gid: 1001 },
    ...change,
  });

  async function started(mounts: Mount[], change: Partial<Parameters<typeof containerSpec>[0]> = {}): Promise<PodRef> {
    made += 1;
    const name = place.unique(`owner${made}`);
    const options = { user: "1000:1001" };
    const id = await runtime.create(containerSpec({ name, networkMode: "none", mounts, options, ...change }));
    await runtime.start(id);
    return id;
  }

  async function sh(id: PodRef, script: string, user?: string): Promise<string> {
    const own = user === undefined ? {} : { user };
    const spec = { command: ["sh", "-c", script], env: [], tty: false, interactive: false, ...own };
    const { stdout, stderr } = await outputOf(await runtime.exec(id, spec));
    return stdout + stderr;
  }

  const ownerOf = (id: PodRef) => sh(id, "stat -c '%u:%g %a' /data");

  test("a program that is not root writes to a new volume that has its owner, and not to one without", async () => {
    const [own, without] = [await volume(), await volume()];
    const writes = await started([mountOf(own)]);
    expect(await sh(writes, "echo text >/data/file && cat /data/file && stat -c '%u:%g %a' /data")).toBe(
      "text\n1000:1001 755\n",
    );
    const refused = await started([{ type: "volume", source: without, target: "/data", readOnly: false }]);
    expect(await sh(refused, "echo text >/data/file")).toContain("Permission denied");
    expect(await runtime.folderAccess(refused, "/data")).toEqual({
      user: { uid: 1000, gid: 1001 },
      folder: { uid: 0, gid: 0, mode: 0o755, isEmpty: true },
    });
  });

  test("a root folder of the container that is read-only, and one path inside of another, do not matter", async () => {
    const [outer, inner] = [await volume(), await volume()];
    const mounts = [mountOf(outer), mountOf(inner, { target: "/data/inner", owner: { uid: 7, gid: undefined } })];
    const id = await started(mounts, { options: { user: "1000", readonlyRootfs: true } });
    expect(await sh(id, "stat -c '%u:%g' /data /data/inner && touch /data/file")).toBe("1000:1001\n7:0\n");
  });

  test("a volume with data keeps its owner, and so does what is in it", async () => {
    const name = await volume();
    const first = await started([mountOf(name, { owner: { uid: 4, gid: 5 } })], { options: {} });
    await sh(first, "echo a >/data/file; chmod 700 /data");
    await runtime.remove(first);
    const next = await started([mountOf(name)], { options: {} });
    expect(await sh(next, "stat -c '%u:%g %a' /data /data/file")).toBe("4:5 700\n0:0 644\n");
  });

  test("what the image has at the path is copied first, and the owner of an empty folder of it gives way", async () => {
    const { docker } = place;
    made += 1;
    const tag = place.unique(`image${made}`);
    const id = await started([], { options: {} });
    await sh(id, "mkdir -p /data /full && chown 9:9 /data /full && chmod 1777 /data && echo kept >/full/file");
    await docker.getContainer(id.id).commit({ repo: tag, tag: "1" });
    const [empty, full] = [await volume(), await volume()];
    const mounts = [mountOf(empty), mountOf(full, { target: "/full" })];
    try {
      for (const round of [1, 2]) {
        const next = await started(mounts, { image: `${tag}:1` });
        expect(await sh(next, "stat -c '%u:%g %a' /data; stat -c %u:%g /full; cat /full/file")).toBe(
          "1000:1001 1777\n9:9\nkept\n",
        );
        expect(round).toBeGreaterThan(0);
        await runtime.remove(next);
      }
    } finally {
      await docker.getImage(`${tag}:1`).remove({ force: true });
    }
  });

  test("replicas that start side by side, and numbers that need an extension of the archive", async () => {
    const name = await volume();
    const owner = { uid: 2_147_483_647, gid: 1_000_660_000 };
    const ids = await Promise.all([1, 2, 3].map(() => started([mountOf(name, { owner })], { options: {} })));
    for (const id of ids) expect(await ownerOf(id)).toBe("2147483647:1000660000 755\n");
    expect((await runtime.folderAccess(ids[0] as PodRef, "/data"))?.folder).toMatchObject(owner);
  });

  test("nothing is left behind, and what a killed server left is no hindrance", async () => {
    const { docker, names, installationId } = place;
    const name = `${names.prefix}-volume-owner-${installationId}`;
    const source = await volume();
    await docker.createContainer({ name, Image: fixtureImage, Cmd: ["-"] });
    expect(await ownerOf(await started([mountOf(source)]))).toBe("1000:1001 755\n");
    const all = await docker.listContainers({ all: true });
    expect(all.filter(({ Names }) => Names.includes(`/${name}`))).toEqual([]);
  });
});
