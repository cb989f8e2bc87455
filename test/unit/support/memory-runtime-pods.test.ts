import { beforeEach, expect, test } from "bun:test";
import { naming } from "../../../src/orchestration/core/naming.ts";
import type { Engine } from "../../../src/orchestration/engine/engine.ts";
import { containerSpec } from "../../support/container-spec.ts";
import { expectFailure } from "../../support/failure.ts";
import { createMemoryRuntime, type MemoryRuntime } from "../../support/memory-runtime.ts";

const names = naming();
const key = { kind: "deployment", scope: "shop", name: "web" };
const { label, network } = names;
const labels = { [label.kind]: key.kind, [label.scope]: key.scope, [label.name]: key.name, [label.replicaId]: "a1" };
const spec = containerSpec({
  name: "shop-web.a1",
  labels,
  networks: [{ name: network, aliases: [] }],
  stopGraceMs: 7_000,
});

let runtime: MemoryRuntime;
let engine: Engine;
beforeEach(async () => {
  runtime = createMemoryRuntime({ names });
  runtime.addImage("berth-fixture:1");
  engine = runtime;
  await engine.ensureNetwork(network);
});

const started = async () => {
  const pod = await engine.create(spec);
  await engine.start(pod);
  return pod;
};

test("a pod is addressed by the node and the id that it was created with, and says whose it is", async () => {
  const pod = await started();
  expect(pod).toEqual({ node: "local", id: runtime.containers()[0]?.id ?? "" });
  const address = runtime.containers()[0]?.networks[network]?.ipAddress;
  const known = { ...pod, name: "shop-web.a1", state: "running", address };
  const identity = { key, replicaId: "a1", ordinal: undefined, role: undefined };
  expect(await engine.observe()).toMatchObject([{ ...known, identity }]);
  expect(await engine.inspect(pod)).toMatchObject({ ...known, identity, stopGraceMs: 7_000 });
});

test("an observation of one resource has its pods only", async () => {
  await started();
  expect(await engine.observe(key)).toHaveLength(1);
  expect(await engine.observe({ ...key, name: "other" })).toEqual([]);
});

test("a container is found by its name, whichever it is; calls on a name that nobody has fail", async () => {
  const { id } = await started();
  expect((await engine.inspect(engine.named("shop-web.a1")))?.id).toBe(id);
  expect(await engine.inspect(engine.named("nobody"))).toBeUndefined();
  await expectFailure(engine.start(engine.named("nobody")), "not_found");
});

test("a stranger has no identity", async () => {
  await runtime.create({ ...spec, labels: {} });
  expect(await engine.inspect(engine.named("shop-web.a1"))).toMatchObject({ identity: undefined });
});

test("a pod is renamed, kept while it runs, and removed once it does not", async () => {
  const pod = await started();
  await engine.rename(pod, "shop-web.b2");
  expect((await engine.inspect(pod))?.name).toBe("shop-web.b2");
  expect(await engine.removeUnlessRunning(pod)).toBe(false);
  await engine.stop(pod, { graceMs: 0 });
  expect(await engine.removeUnlessRunning(pod)).toBe(true);
  expect(await engine.observe()).toEqual([]);
});

test("events say which pod they are about, and whose it is, until nobody listens any more", async () => {
  const over = new AbortController();
  const told: unknown[] = [];
  const opened = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const { at: _, ...event } of engine.events(over.signal, opened.resolve)) told.push(event);
  })();
  await opened.promise;
  const { id } = await started();
  await new Promise((resolve) => setImmediate(resolve));
  over.abort();
  await reading;
  const one = {
    node: "local",
    id,
    name: "shop-web.a1",
    exitCode: undefined,
    identity: expect.objectContaining({ key }),
  };
  expect(told).toEqual([
    { ...one, action: "create" },
    { ...one, action: "start" },
  ]);
});

test("what runs inside is reached by reference", async () => {
  const pod = await started();
  runtime.writeLog(pod.id, "hello\n");
  runtime.setConnections(pod.id, { listening: true, established: 2 });
  runtime.setUsage(pod.id, { cpuNanos: 5 });
  expect(await engine.connections(pod)).toEqual({ listening: true, established: 2 });
  expect(await engine.usage()).toMatchObject([{ ...pod, cpuNanos: 5, identity: { key, replicaId: "a1" } }]);
  const options = { follow: false, tail: undefined, since: undefined, timestamps: false };
  let text = "";
  for await (const bytes of engine.logs(pod, options, new AbortController().signal)) text += Buffer.from(bytes);
  expect(text).toBe("hello\n");
  const session = await engine.exec(pod, { command: ["true"], env: [], tty: false, interactive: false });
  for await (const _ of session.output);
  expect(await session.exitCode()).toBe(0);
  const ended = engine.wait(pod, new AbortController().signal);
  await engine.stop(pod, { graceMs: 0 });
  expect(await ended).toMatchObject({ exitCode: 143 });
});

test("the machine is asked as the runtime is", async () => {
  runtime.setFreeBytes(42);
  expect(await engine.freeBytes()).toBe(42);
  expect(await engine.hasNetwork(network)).toBe(true);
  expect(await engine.networkGateway(network)).toBe("127.64.0.0");
  expect(await engine.ensureVolume("v", { a: "1" })).toEqual({ created: true });
  expect((await engine.listVolumes({ a: "1" })).map(({ name }) => name)).toEqual(["v"]);
  await engine.removeVolume("v");
  expect(await engine.inspectVolume("v")).toBeUndefined();
  runtime.addRemoteImage("app:1");
  expect((await engine.pull("app:1", undefined)).tags).toContain("app:1");
  await engine.removeImage("app:1");
  expect(await engine.inspectImage("app:1")).toBeUndefined();
  const binding = { hostIp: "127.0.0.1", hostPort: 80, containerPort: 80, protocol: "tcp" as const };
  runtime.occupyPort(binding, true);
  expect(await engine.portHolders([binding])).toMatchObject([{ holder: "another program" }]);
  expect((await engine.info()).version).toBe("memory");
});
