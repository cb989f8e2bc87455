import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { tmpdir } from "node:os";
import { createDockerEngine, type DockerOptions } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import type { LogOptions } from "../../src/orchestration/engine/session.ts";
import { containerSpec } from "../support/container-spec.ts";
import { fixtureImage, requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { startDockerd } from "../support/dockerd.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

setDefaultTimeout(30_000);

/** How many containers the cost of a reading is measured with; the promise is about 100. */
const measured = Number(process.env.BERTH_TEST_CONTAINERS ?? 5);
const all: LogOptions = { follow: false, tail: undefined, since: undefined, timestamps: false };
const never = () => new AbortController().signal;

/** What only a real engine shows of logs, exits and usage. */
describe("docker, observed", () => {
  let place: Scratch;
  let runtime: Engine;
  const connect = (change: Partial<DockerOptions> = {}) =>
    createDockerEngine({
      host: requireDocker(),
      installationId: place.installationId,
      names: place.names,
      ...change,
    });
  beforeAll(() => {
    place = scratch();
    runtime = connect();
  });
  afterEach(() => place.cleanUp());
  afterAll(() => runtime.close());

  const started = async (name: string, script: string) => {
    const command = ["sh", "-c", script];
    const id = await runtime.create(containerSpec({ name: place.unique(name), networkMode: "none", command }));
    await runtime.start(id);
    return id;
  };
  const text = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks)).toString();

  test("the log of a terminal is not taken for a framed one", async () => {
    const { label } = place.names;
    const container = await place.docker.createContainer({
      name: place.unique("tty"),
      Image: fixtureImage,
      Tty: true,
      Cmd: ["sh", "-c", "printf '\\001\\000\\000\\000\\000\\000\\000\\002hello'"],
      Labels: { [label.installation]: place.installationId },
    });
    await container.start();
    await runtime.wait(podRef(container.id), never());
    expect(await text(runtime.logs(podRef(container.id), all, never()))).toBe("\x01\0\0\0\0\0\0\x02hello");
  });

  test("lines longer than the engine's own pieces stay whole", async () => {
    const id = await started("a", "head -c 100000 /dev/zero | tr '\\0' x; echo; echo end");
    await runtime.wait(id, never());
    expect(await text(runtime.logs(id, all, never()))).toBe(`${"x".repeat(100_000)}\nend\n`);
  });

  test("a reader that stops reading costs no memory and does not slow the container", async () => {
    const id = await started("a", "head -c 20000000 /dev/zero | tr '\\0' x | fold -w 1000");
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let [peak, bytes] = [0, 0];
    for await (const chunk of runtime.logs(id, { ...all, follow: true }, never())) {
      // With the reader waiting, the container comes to its end.
      if (bytes === 0) expect((await runtime.wait(id, never())).exitCode).toBe(0);
      bytes += chunk.length;
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    expect(bytes).toBeGreaterThan(0);
    expect((peak - before) / 1_000_000).toBeLessThan(150);
  }, 60_000);

  test("a container that the policy starts again is waited for until it stops for good", async () => {
    const restart = { name: "on-failure" as const, maximumRetryCount: 2 };
    const command = ["sh", "-c", "sleep 0.2; exit 6"];
    const spec = containerSpec({ name: place.unique("a"), networkMode: "none", command, restart });
    const id = await runtime.create(spec);
    await runtime.start(id);
    expect((await runtime.wait(id, never())).exitCode).toBe(6);
    expect(await runtime.inspect(id)).toMatchObject({ state: "exited", restartCount: 2 });
  }, 20_000);

  test("the words of a start that failed do not come out as an exit", async () => {
    const id = await runtime.create(
      containerSpec({ name: place.unique("a"), networkMode: "none", command: ["/no/such"] }),
    );
    await runtime.start(id).catch(() => undefined);
    await expect(runtime.wait(id, never())).rejects.toThrow("never started");
  });

  test("usage grows with what a container does, and says what the engine says", async () => {
    const id = await started("a", "while :; do :; done");
    await started("b", "sleep 600");
    const reading = async (name: string) => (await runtime.usage()).find((row) => row.name === place.unique(name));
    const first = await reading("a");
    const more = await waitFor("more CPU time", async () => {
      const next = await reading("a");
      return next !== undefined && next.cpuNanos > (first?.cpuNanos ?? 0) + 50_000_000 && next;
    });
    expect((await reading("b"))?.cpuNanos).toBeLessThan(more.cpuNanos);
    const stats = await place.docker.getContainer(id.id).stats({ stream: false });
    const last = await reading("a");
    expect(stats.cpu_stats.cpu_usage.total_usage).toBeGreaterThanOrEqual(more.cpuNanos);
    expect(last?.cpuNanos).toBeGreaterThanOrEqual(stats.cpu_stats.cpu_usage.total_usage);
    expect(last?.pids).toBe(stats.pids_stats?.current ?? 0);
    expect(last?.memoryLimitBytes).toBe(stats.memory_stats.limit);
  });

  test("says which file the output of a pod is written to, before there is one and while it runs", async () => {
    const id = await started("logged", "echo hello; sleep 600");
    expect(await runtime.logFile(id)).toBe((await runtime.inspect(id))?.logPath ?? "");
    const blind = connect({ beforeRemoval: async (removed: string) => void told.push(removed) });
    const told: string[] = [];
    await blind.remove(id);
    expect(await blind.removeUnlessRunning(id)).toBe(true);
    expect(told).toEqual([id.id, id.id]);
    blind.close();
  });

  test("where the files cannot be seen, the engine is asked, and the figures mean the same", async () => {
    const id = await started("a", "while :; do :; done");
    const blind = connect({ roots: { cgroup: tmpdir(), proc: tmpdir() } });
    const before = (await runtime.usage())[0];
    const [asked] = await blind.usage();
    const after = (await runtime.usage())[0];
    expect(asked).toMatchObject({ ...id, name: place.unique("a"), memoryLimitBytes: before?.memoryLimitBytes });
    expect(asked?.cpuNanos).toBeGreaterThanOrEqual(before?.cpuNanos ?? 0);
    expect(asked?.cpuNanos).toBeLessThanOrEqual(after?.cpuNanos ?? 0);
    expect(asked?.pids).toBe(after?.pids ?? 0);
    blind.close();
  });

  test(`a reading of ${measured} containers is cheap`, async () => {
    await Promise.all(Array.from({ length: measured }, (_, index) => started(`u${index}`, "sleep 600")));
    await runtime.usage();
    const before = process.cpuUsage();
    expect(await runtime.usage()).toHaveLength(measured);
    const { user, system } = process.cpuUsage(before);
    console.log(`usage of ${measured} containers: ${((user + system) / 1000).toFixed(1)} ms of CPU`);
  }, 120_000);
});

/** With a daemon of its own, which may be stopped. */
test("a wait outlives the daemon: stopped, killed and started again", async () => {
  const daemon = await startDockerd();
  const place = scratch(daemon.host);
  const options = { host: daemon.host, installationId: place.installationId, names: place.names };
  const runtime = createDockerEngine(options);
  try {
    const command = ["sh", "-c", "while [ ! -f /tmp/leave ]; do sleep 0.1; done; exit 5"];
    const id = await runtime.create(containerSpec({ name: place.unique("a"), networkMode: "none", command }));
    await runtime.start(id);
    const waiting = runtime.wait(id, never());
    await daemon.stop();
    await Bun.sleep(300);
    await daemon.start();
    await daemon.kill();
    const given = new AbortController();
    const impatient = runtime.wait(id, given.signal);
    given.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    await daemon.start();
    const touch = await waitFor("a command to start", () =>
      runtime.exec(id, { command: ["touch", "/tmp/leave"], env: [], tty: false, interactive: false }),
    );
    expect(await touch.exitCode()).toBe(0);
    expect((await waiting).exitCode).toBe(5);
    await runtime.remove(id);
  } finally {
    runtime.close();
    await daemon.close();
  }
}, 120_000);
