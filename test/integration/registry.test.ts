import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { RegistryAuth } from "../../src/orchestration/engine/machine.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { containerSpec } from "../support/container-spec.ts";
import { fixtureImage, requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { expectFailure } from "../support/failure.ts";
import { type Registry, startRegistry } from "../support/registry.ts";

const user = { username: "ana", password: "s3cret" };

describe("pulling from a registry", () => {
  let place: Scratch;
  let runtime: Engine;
  let open: Registry;
  let closed: Registry;
  const made = new Set<string>();

  beforeAll(async () => {
    place = scratch();
    runtime = createDockerEngine({ host: requireDocker(), installationId: place.installationId, names: place.names });
    [open, closed] = await Promise.all([startRegistry(), startRegistry({ [user.username]: user.password })]);
  });
  afterEach(async () => {
    for (const ref of made) await forget(ref);
    made.clear();
  });
  afterAll(async () => {
    runtime.close();
    await Promise.all([open.close(), closed.close()]);
  });

  const forget = (ref: string) =>
    place.docker
      .getImage(ref)
      .remove()
      .catch(() => undefined);

  const authFor = (registry: Registry, password = user.password): RegistryAuth => ({
    ...user,
    password,
    serverAddress: registry.host,
  });

  /** Pushes an image made from the fixture and takes it off the machine. `mark` makes its content another. */
  const publish = async (
    repository: string,
    tag: string,
    { mark = "", auth }: { mark?: string; auth?: RegistryAuth } = {},
  ) => {
    const { docker } = place;
    const base = await docker.createContainer({
      Image: fixtureImage,
      Cmd: ["true"],
      HostConfig: { NetworkMode: "none" },
    });
    await base.commit({ repo: repository, tag, changes: `ENV MARK=${mark}` });
    await base.remove();
    const ref = `${repository}:${tag}`;
    const stream = await docker.getImage(ref).push({ authconfig: authOf(auth) });
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
    });
    const { id, digests } = (await runtime.inspectImage(ref)) ?? { id: "", digests: [] };
    await forget(ref);
    made.add(ref);
    for (const digest of digests) made.add(digest);
    return { ref, id, digest: digests[0] ?? "" };
  };
  const authOf = (auth: RegistryAuth | undefined) => {
    return { username: auth?.username ?? "", password: auth?.password ?? "", serveraddress: auth?.serverAddress ?? "" };
  };

  test("brings an image that was not here, with its tag, its digest and its environment", async () => {
    const { ref, id, digest } = await publish(`${open.host}/team/app`, "1.0", { mark: "one" });
    expect(await runtime.inspectImage(ref)).toBeUndefined();
    const image = await runtime.pull(ref, undefined);
    expect(image).toMatchObject({ id, tags: [ref], digests: [digest], env: { MARK: "one" } });
    expect(image.sizeBytes).toBeGreaterThan(0);
    expect(digest).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  test("takes the tag latest when none is written", async () => {
    const { ref, id } = await publish(`${open.host}/app`, "latest");
    const image = await runtime.pull(`${open.host}/app`, undefined);
    expect(image).toMatchObject({ id, tags: [ref] });
  });

  test("by digest brings exactly that one, though the tag has moved", async () => {
    const first = await publish(`${open.host}/pinned`, "1", { mark: "first" });
    const second = await publish(`${open.host}/pinned`, "1", { mark: "second" });
    expect(second.id).not.toBe(first.id);
    expect(await runtime.pull(first.digest, undefined)).toMatchObject({ id: first.id, env: { MARK: "first" } });
    const both = `${open.host}/pinned:1@${second.digest.split("@")[1]}`;
    expect(await runtime.pull(both, undefined)).toMatchObject({ id: second.id, env: { MARK: "second" } });
    expect((await runtime.inspectImage(both))?.id).toBe(second.id);
  });

  test("of a tag that has moved brings the new image", async () => {
    const first = await publish(`${open.host}/moving`, "1", { mark: "first" });
    expect((await runtime.pull(first.ref, undefined)).id).toBe(first.id);
    const second = await publish(`${open.host}/moving`, "1", { mark: "second" });
    const image = await runtime.pull(second.ref, undefined);
    expect(image).toMatchObject({ id: second.id, env: { MARK: "second" } });
  });

  test("names a tag that does not exist, with the registry's words", async () => {
    const { ref } = await publish(`${open.host}/app`, "1");
    const failure = await expectFailure(runtime.pull(`${open.host}/app:none`, undefined), "conflict", "ImagePull");
    expect(failure.message).toContain(`"${open.host}/app:none"`);
    expect(failure.message).toContain("manifest");
    expect(await runtime.inspectImage(ref)).toBeUndefined();
  });

  test("of one image at the same time is one pull, and all get it", async () => {
    const { ref, id } = await publish(`${open.host}/shared`, "1");
    const images = await Promise.all([1, 2, 3, 4].map(() => runtime.pull(ref, undefined)));
    expect(images.map((image) => image.id)).toEqual([id, id, id, id]);
  });

  test("needs the right name and password where the registry wants them", async () => {
    const { ref, id } = await publish(`${closed.host}/private`, "1", { auth: authFor(closed) });
    const none = await expectFailure(runtime.pull(ref, undefined), "conflict", "RegistryAuth");
    expect(none.message).toContain("credentials");
    const wrong = await expectFailure(runtime.pull(ref, authFor(closed, "wrong-pw")), "conflict", "RegistryAuth");
    expect(`${wrong.message} ${String(wrong.cause)}`).not.toContain("wrong-pw");
    expect(await runtime.inspectImage(ref)).toBeUndefined();
    expect((await runtime.pull(ref, authFor(closed))).id).toBe(id);
  });

  test("of an image already here is fine", async () => {
    const { ref, id } = await publish(`${open.host}/again`, "1");
    await runtime.pull(ref, undefined);
    expect((await runtime.pull(ref, undefined)).id).toBe(id);
  });

  test("a container shows the reference it was made from, also when the tag has moved since", async () => {
    const first = await publish(`${open.host}/kept`, "1", { mark: "first" });
    await runtime.pull(first.ref, undefined);
    await runtime.create(containerSpec({ name: place.unique("kept"), image: first.ref, networkMode: "none" }));
    const second = await publish(`${open.host}/kept`, "1", { mark: "second" });
    await runtime.pull(second.ref, undefined);
    const [row] = await runtime.observe();
    expect(row).toMatchObject({ image: first.ref, imageId: first.id });
    await place.cleanUp();
    await place.docker.getImage(first.id).remove({ force: true });
  });
});
