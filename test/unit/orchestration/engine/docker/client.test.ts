import { join } from "node:path";
import { afterEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import {
  createDockerClient,
  engineAddress,
  pickApiVersion,
} from "../../../../../src/orchestration/engine/docker/client.ts";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import { deadProxies } from "../../../../support/dead-proxies.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { type Answer, type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";
import { freePort } from "../../../../support/ports.ts";
import { waitFor } from "../../../../support/wait.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

const listing = { verb: "list", subject: "containers" };

describe("engineAddress", () => {
  test.each([
    ["unix:///var/run/docker.sock", { socketPath: "/var/run/docker.sock" }],
    ["tcp://127.0.0.1:2375", { host: "127.0.0.1", port: 2375 }],
    ["tcp://docker.lan:2375/", { host: "docker.lan", port: 2375 }],
    ["tcp://[::1]:2375", { host: "::1", port: 2375 }],
  ])("%s", (text, address) => expect(engineAddress(text)).toEqual(address));

  test.each(["", "unix://", "unix://docker.sock", "tcp://host", "ssh://host", "/var/run/docker.sock", "tcp://a:b"])(
    "%p is refused with the way out",
    (text) => {
      expect(() => engineAddress(text)).toThrow(
        `docker host "${text}" is not understood; write unix:///path or tcp://host:port`,
      );
    },
  );
});

describe("pickApiVersion", () => {
  test.each([
    ["1.41", "1.12", "1.41"],
    ["1.47", "1.24", "1.47"],
    ["1.51", "1.24", "1.51"],
    ["1.99", "1.44", "1.51"],
    ["1.99", "1.60", "1.60"],
  ])("engine up to %s, from %s: %s", (newest, oldest, picked) =>
    expect(pickApiVersion({ newest, oldest })).toBe(picked),
  );

  test("an engine too old is told so", () => {
    expect(() => pickApiVersion({ newest: "1.40", oldest: "1.12" })).toThrow("at least 1.41 is needed");
  });
});

describe("calls", () => {
  let fake: FakeEngine | undefined;
  afterEach(async () => {
    await fake?.close();
    fake = undefined;
  });
  const start = async (answer: Answer) => {
    fake = await startFakeEngine(answer);
    return fake;
  };
  const list = (engine: ReturnType<typeof createDockerClient>, deadlineMs?: number) =>
    engine.call(listing, (docker, abortSignal) => docker.listContainers({ abortSignal }), deadlineMs);

  test("speak the version that was agreed on, asked for once", async () => {
    const { host, requests } = await start((_request, response) => sendJson(response, 200, []));
    const engine = createDockerClient(host, 10_000);
    await Promise.all([list(engine), list(engine)]);
    expect(requests.map(({ url }) => url)).toEqual(["/v1.41/containers/json", "/v1.41/containers/json"]);
    expect(await engine.apiVersion()).toBe("1.41");
  });

  test("fail with the deadline when the engine does not answer, and end the connection", async () => {
    const gone = Promise.withResolvers<void>();
    const { host } = await start((_request, response) => response.on("close", gone.resolve));
    // Long enough for the request to get there on a busy machine: only then is there a connection to end.
    const failure = await expectFailure(list(createDockerClient(host, 10_000), 500), "timeout", "Timeout");
    expect(failure.message).toBe("docker did not list containers within 0.5 s; check that it is not overloaded");
    await gone.promise;
  });

  test("fail with the deadline when the answer stops half way", async () => {
    const { host } = await start((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("[{");
    });
    await expectFailure(list(createDockerClient(host, 10_000), 50), "timeout", "Timeout");
  });

  test("fail with the deadline when the engine does not even tell its version", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    await expectFailure(list(createDockerClient(`tcp://127.0.0.1:${silent.port}`, 50)), "timeout", "Timeout");
    silent.stop(true);
  });

  test("fail unavailable when nobody listens, and work when somebody does, with whatever version it has then", async () => {
    const port = await freePort();
    const engine = createDockerClient(`tcp://127.0.0.1:${port}`, 10_000);
    await expectFailure(list(engine), "unavailable", "EngineUnavailable");
    await expectFailure(list(engine), "unavailable", "EngineUnavailable");
    let version = "1.41";
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/version") return Response.json({ ApiVersion: version, MinAPIVersion: version });
        if (pathname.startsWith(`/v${version}/`)) return Response.json([]);
        return Response.json({ message: "client version 1.41 is too old" }, { status: 400 });
      },
    });
    expect(await list(engine)).toEqual([]);
    version = "1.44";
    await expectFailure(list(engine), "unavailable", "EngineUnavailable");
    expect(await list(engine)).toEqual([]);
    await server.stop(true);
  });

  test("fail unavailable when the socket is missing", async () => {
    const failure = await expectFailure(
      list(createDockerClient("unix:///nowhere/docker.sock", 10_000)),
      "unavailable",
      "EngineUnavailable",
    );
    expect(failure.message).toContain("/nowhere/docker.sock");
  });

  test("fail unavailable when the engine cuts the connection", async () => {
    const { host } = await start((_request, response) => response.destroy());
    await expectFailure(list(createDockerClient(host, 10_000)), "unavailable", "EngineUnavailable");
  });

  test("under way and later ones fail in the words of a suspension, pings do not, and all work after it", async () => {
    const arrived = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    let hangs = true;
    const { host } = await start((request, response) => {
      if (!hangs || request.path === "/_ping") return sendJson(response, 200, []);
      response.on("close", gone.resolve);
      arrived.resolve();
    });
    const engine = createDockerClient(host, 10_000);
    const waiting = expectFailure(list(engine), "unavailable", "EngineUnavailable");
    await arrived.promise;
    const { held } = engine;
    engine.suspend(() => new Failure("unavailable", "it hangs", { reason: "EngineUnavailable" }));
    expect((await waiting).message).toBe("it hangs");
    await gone.promise;
    expect(held.aborted).toBe(true);
    expect(engine.held.aborted).toBe(false);
    expect((await expectFailure(list(engine), "unavailable", "EngineUnavailable")).message).toBe("it hangs");
    await engine.ping(new AbortController().signal);
    hangs = false;
    engine.resume();
    expect(await list(engine)).toEqual([]);
  });

  test("of every kind end their connection when they are given up", async () => {
    const open = new Set<string>();
    const { host, requests } = await start(({ url }, response) => {
      const request = `${requests.length}: ${url}`;
      open.add(request);
      response.on("close", () => open.delete(request));
    });
    const runtime = createDockerEngine({ host, installationId: "one", names: naming("bt") });
    const asked = [
      runtime.info(),
      runtime.hasNetwork("n"),
      runtime.networkGateway("n"),
      runtime.ensureNetwork("m"),
      runtime.ensureVolume("v", {}),
      runtime.listVolumes({}),
      runtime.inspectVolume("v"),
      runtime.removeVolume("w"),
      runtime.inspectImage("a:1"),
      runtime.listImages(),
      runtime.tagImage("a", "b:1"),
      runtime.removeImage("b:1"),
      runtime.pull("b:1", undefined),
      runtime.diskUse(),
      runtime.pruneBuildCache(),
      runtime.observe({}),
      runtime.inspect(podRef("c")),
      runtime.start(podRef("c")),
      runtime.stop(podRef("c"), { graceMs: 1_000 }),
      runtime.remove(podRef("c")),
      runtime.wait(podRef("c"), new AbortController().signal),
    ].map((answer) => answer.catch(() => undefined));
    await waitFor("all of them to ask", () => requests.length >= asked.length);
    expect(open.size).toBeGreaterThan(0);
    runtime.suspend(() => new Failure("unavailable", "it hangs", { reason: "EngineUnavailable" }));
    await waitFor("every connection to end", () => {
      if (open.size > 0) throw new Error(`open: ${[...open].join(", ")}`);
      return true;
    });
    runtime.close();
    await Promise.all(asked);
  });

  test("a ping ends with its signal, and fails in the engine's words", async () => {
    const arrived = Promise.withResolvers<void>();
    let hangs = true;
    const { host } = await start((_request, response) => {
      arrived.resolve();
      if (!hangs) refuse(response, 500, "the store is broken");
    });
    const engine = createDockerClient(host, 10_000);
    const stop = new AbortController();
    const waiting = engine.ping(stop.signal);
    await arrived.promise;
    stop.abort();
    await expectFailure(waiting, "unavailable", "EngineUnavailable");
    hangs = false;
    expect((await expectFailure(engine.ping(new AbortController().signal), "conflict")).message).toContain(
      "the store is broken",
    );
  });

  test("under way and later ones fail once it is closed", async () => {
    const arrived = Promise.withResolvers<void>();
    const { host } = await start(() => arrived.resolve());
    const engine = createDockerClient(host, 10_000);
    const waiting = expectFailure(list(engine), "unavailable", "EngineUnavailable");
    await arrived.promise;
    engine.close();
    await waiting;
    await expectFailure(list(engine), "unavailable", "EngineUnavailable");
    expect(engine.closed.aborted).toBe(true);
  });

  test("do not dress up a bug of the caller", async () => {
    const { host } = await start(() => undefined);
    const bug = new TypeError("bug");
    await expect(createDockerClient(host, 10_000).call(listing, () => Promise.reject(bug))).rejects.toBe(bug);
  });

  test("keep out of what the environment says about Docker", async () => {
    const { host } = await start((_request, response) => sendJson(response, 200, []));
    const before = process.env.DOCKER_HOST;
    process.env.DOCKER_HOST = "tcp://127.0.0.1:1";
    try {
      expect(await list(createDockerClient(host, 10_000))).toEqual([]);
      await expectFailure(list(createDockerClient("unix:///nowhere/docker.sock", 10_000)), "unavailable").then(
        ({ message }) => expect(message).toContain("/nowhere/docker.sock"),
      );
    } finally {
      if (before === undefined) delete process.env.DOCKER_HOST;
      else process.env.DOCKER_HOST = before;
    }
  });
});

test("an engine over TCP is reached without the proxy of the environment", async () => {
  await using engine = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ ApiVersion: "1.47", MinAPIVersion: "1.24" }),
  });
  // The platform reads these variables when a process starts.
  const file = join(import.meta.dir, "../../../../../src/orchestration/engine/docker/client.ts");
  const script = `import { createDockerClient } from "${file}";
    console.log(await createDockerClient("tcp://127.0.0.1:${engine.port}", 5_000).apiVersion());
    process.exit();`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { ...process.env, ...deadProxies },
    stderr: "pipe",
  });
  expect([await child.stdout.text(), await child.stderr.text()]).toEqual(["1.47\n", ""]);
});

test("a unix socket is on this machine, an address may be anywhere", () => {
  expect(createDockerClient("unix:///a", 1).local).toBe(true);
  expect(createDockerClient("tcp://127.0.0.1:1", 1).local).toBe(false);
});
