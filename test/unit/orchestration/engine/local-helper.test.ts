import { beforeEach, expect, test } from "bun:test";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import type { HelperProgram } from "../../../../src/orchestration/engine/helper.ts";
import { createHelper } from "../../../../src/orchestration/engine/local-helper.ts";
import { containerSpec } from "../../../support/container-spec.ts";
import { expectFailure } from "../../../support/failure.ts";
import { createMemoryRuntime, type MemoryRuntime } from "../../../support/memory-runtime.ts";

const names = naming();
const program: HelperProgram = {
  role: "ingress",
  image: "haproxy:2.6",
  entrypoint: "haproxy",
  user: "0:0",
  folders: [{ path: "/opt/berth/run", readOnly: false }],
  capabilities: ["KILL"],
  filesMax: 4_096,
  limitMs: 5_000,
};

let runtime: MemoryRuntime;
beforeEach(() => {
  runtime = createMemoryRuntime({ names });
  runtime.addImage("haproxy:2.6");
});

const installationOf = (container: { labels: Record<string, string> } | undefined) =>
  container?.labels[names.label.installation] ?? "";

async function helperOf(changed: Partial<HelperProgram> = {}) {
  // The runtime says whose containers it makes.
  const id = await runtime.create(containerSpec({ name: "probe", image: "haproxy:2.6" }));
  const installationId = installationOf(await runtime.inspect(id));
  await runtime.remove(id);
  return createHelper(runtime, { names, installationId }, { ...program, ...changed });
}

test("it runs on the network and among the processes of the machine, with its folders at their paths", async () => {
  const helper = await helperOf();
  await helper.start(["-W"]);
  const [made] = runtime.containers();
  expect(made).toMatchObject({ name: "berth-ingress", state: "running", restartPolicy: "no", command: ["-W"] });
  expect(made?.mounts).toMatchObject([{ source: "/opt/berth/run", destination: "/opt/berth/run", rw: true }]);
});

test("what it is made from has the digest that earlier versions gave it, so that no upgrade makes another container", async () => {
  const engine = runtime;
  const image = await engine.inspectImage(program.image);
  const pinned = { ...engine, inspectImage: async () => image && { ...image, id: "sha256:1" } };
  await createHelper(pinned, { names, installationId: "x" }, program).start(["-W"]);
  expect(runtime.containers()[0]?.labels[names.label.manifestHash]).toBe(
    "5966b09c0b93b80e6a6aa28f7e239a2786b5f0e4c5b05be8d7d8ecfaa3cd67b7",
  );
});

test("no resource has it", async () => {
  await (await helperOf()).start([]);
  expect(await runtime.observe()).toMatchObject([{ identity: undefined }]);
});

test("the same program is started again in its container; another image makes another one", async () => {
  const helper = await helperOf();
  const first = await helper.start(["-W"]);
  await helper.stop();
  expect((await helper.start(["-W"])).id).toBe(first.id);
  // One that runs is about to end: it is ended first.
  expect((await helper.start(["-W"])).id).toBe(first.id);
  runtime.addImage("haproxy:3.0");
  const second = await (await helperOf({ image: "haproxy:3.0" })).start(["-W"]);
  expect(runtime.containers().map(({ id }) => id)).toEqual([second.id]);
});

test("a container whose start an engine's end left half done makes way for another one", async () => {
  const helper = await helperOf();
  const first = await helper.start(["-W"]);
  await helper.stop();
  runtime.fail(
    "start",
    new Failure("unavailable", "task already exists", { reason: "EngineUnavailable", anew: true }),
    1,
  );
  const second = await helper.start(["-W"]);
  expect(runtime.containers()).toMatchObject([{ id: second.id, state: "running" }]);
  expect(second.id).not.toBe(first.id);
  await helper.stop();
  runtime.fail("start", new Failure("unavailable", "away"), 1);
  await expectFailure(helper.start(["-W"]), "unavailable");
  expect(runtime.containers()).toMatchObject([{ id: second.id }]);
});

test("an image that is not there, and a name that another program has, are said", async () => {
  const missing = await expectFailure((await helperOf({ image: "other:1" })).start([]), "conflict");
  expect(missing.message).toBe("the image other:1 is not on this machine");
  const other = createHelper(runtime, { names, installationId: "another" }, program);
  await (await helperOf()).start([]);
  const taken = await expectFailure(other.start([]), "conflict");
  expect(taken.message).toBe('the container name "berth-ingress" is in use; remove that container, or rename it');
});
