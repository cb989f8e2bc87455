import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { pack } from "tar-stream";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { outputOf } from "../contract/runtime-inside.ts";
import { containerSpec } from "../support/container-spec.ts";
import { requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { expectFailure } from "../support/failure.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";
import type { PodRef } from "../../src/orchestration/engine/pod.ts";

setDefaultTimeout(30_000);

/** Files in real containers: who owns what, and what the engine says of what cannot be. */
describe("docker files", () => {
  let place: Scratch;
  let runtime: Engine;
  let id: PodRef;
  let made = 0;
  beforeAll(async () => {
    place = scratch();
    runtime = createDockerEngine({
      host: requireDocker(),
      installationId: place.installationId,
      names: place.names,
    });
    id = await started({ options: { user: "1234:5678" } });
  });
  afterAll(async () => {
    await place.cleanUp();
    runtime.close();
  });

  async function started(change = {}): Promise<PodRef> {
    made += 1;
    const name = place.unique(`files${made}`);
    const container = await runtime.create(
      containerSpec({ name, networkMode: "none", command: ["sleep", "600"], ...change }),
    );
    await runtime.start(container);
    return container;
  }

  async function sh(script: string, container = id): Promise<string> {
    const spec = { command: ["sh", "-c", script], env: [], tty: false, interactive: false, user: "0" };
    return (await outputOf(await runtime.exec(container, spec))).stdout;
  }

  async function* archiveOf(files: Record<string, string>): AsyncGenerator<Uint8Array> {
    const archive = pack();
    for (const [name, text] of Object.entries(files)) archive.entry({ name, mode: 0o640 }, text);
    archive.finalize();
    yield* archive as unknown as AsyncIterable<Uint8Array>;
  }

  const write = (folder: string, files: Record<string, string>, container = id) =>
    runtime.writeFiles(container, { folder, archive: archiveOf(files), signal: new AbortController().signal });

  async function read(path: string, container = id): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of runtime.readFiles(container, path, new AbortController().signal)) parts.push(part);
    return Buffer.concat(parts);
  }

  test("are told for what they are; nothing is undefined", async () => {
    await sh("mkdir -p /d && printf 12345 >/d/f && chmod 640 /d/f && ln -sf f /d/l && mkfifo /d/p");
    expect(await runtime.statFile(id, "/d")).toMatchObject({
      kind: "folder",
      mode: 0o755,
      linkTarget: undefined,
    });
    expect(await runtime.statFile(id, "/d/f")).toMatchObject({ kind: "file", sizeBytes: 5, mode: 0o640 });
    expect(await runtime.statFile(id, "/d/l")).toMatchObject({ kind: "link", linkTarget: "/d/f" });
    expect(await runtime.statFile(id, "/d/p")).toMatchObject({ kind: "other" });
    expect(await runtime.statFile(id, "/d/none")).toBeUndefined();
    expect(await runtime.statFile(podRef("none"), "/")).toBeUndefined();
  });

  test("that are written belong to the user of the container", async () => {
    await sh("mkdir -p /w");
    await write("/w", { "a.txt": "one", "deep/b.txt": "two" });
    expect(await sh("cd /w && cat a.txt deep/b.txt && stat -c '%u:%g %a' a.txt")).toBe("onetwo1234:5678 640\n");
  });

  test("that are read are an archive under their last name, links included", async () => {
    await sh("mkdir -p /r/x && echo text >/r/x/file && ln -sf /etc/passwd /r/x/out");
    const text = (await read("/r/x")).toString("latin1");
    expect(text).toContain("x/file");
    expect(text).toContain("text\n");
    expect(text).toContain("/etc/passwd");
    expect(text).not.toContain("root:");
  });

  test("go through a slow reader without being held in memory, and a reader may leave", async () => {
    await sh("head -c 33554432 /dev/zero >/tmp/large");
    const left = new AbortController();
    let bytes = 0;
    for await (const part of runtime.readFiles(id, "/tmp/large", left.signal)) {
      bytes += part.length;
      if (bytes > 1024 * 1024) break;
    }
    expect(bytes).toBeLessThan(8 * 1024 * 1024);
    expect((await read("/tmp/large")).length).toBeGreaterThan(33_554_432);
  });

  test("also of a container that does not run", async () => {
    const stopped = await started();
    await runtime.stop(stopped, { graceMs: 0 });
    await write("/tmp", { late: "kept" }, stopped);
    expect((await read("/tmp/late", stopped)).toString("latin1")).toContain("kept");
  });

  test("what cannot be is refused in the engine's words", async () => {
    expect((await expectFailure(write("/none", { a: "1" }), "not_found")).message).toContain("/none");
    expect((await expectFailure(write("/", { a: "1" }, podRef("no-such-container")), "not_found")).message).toContain(
      "no-such-container",
    );
    await sh("mkdir -p /w/folder && echo x >/w/file");
    expect((await expectFailure(write("/w", { folder: "1" }), "conflict")).message).toContain("overwrite");
    const readOnly = await started({ options: { readonlyRootfs: true } });
    expect((await expectFailure(write("/etc", { a: "1" }, readOnly), "conflict")).message).toContain("read-only");
    expect((await expectFailure(read("/none"), "not_found")).message).toContain("/none");
  });

  test("a writer that leaves ends the request", async () => {
    const left = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(1024);
      left.abort();
      await new Promise(() => undefined);
    }
    const writing = runtime.writeFiles(id, { folder: "/tmp", archive: endless(), signal: left.signal });
    expect(
      await writing.then(
        () => "written",
        () => "ended",
      ),
    ).toBe("ended");
  });
});
