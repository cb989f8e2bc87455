import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { containerSpec } from "../support/container-spec.ts";
import { requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { expectFailure } from "../support/failure.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(30_000);

/** What only a real engine can show. */
describe("docker", () => {
  let place: Scratch;
  let runtime: Engine;
  let folder: string;
  beforeAll(() => {
    place = scratch();
    runtime = createDockerEngine({ host: requireDocker(), installationId: place.installationId, names: place.names });
    folder = mkdtempSync(join(tmpdir(), "mounts-"));
  });
  afterEach(() => place.cleanUp());
  afterAll(() => {
    runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const spec = (change = {}) => containerSpec({ name: place.unique("a"), networkMode: "none", ...change });
  const bind = (source: string, change = {}) => ({
    type: "bind" as const,
    source,
    target: "/m",
    readOnly: false,
    ...change,
  });
  /** Exit code of a container that runs to its end. */
  const exitCode = async (change: object) => {
    const id = await runtime.create(spec(change));
    await runtime.start(id);
    await place.docker.getContainer(id.id).wait();
    return (await runtime.inspect(id))?.exitCode;
  };

  test("a missing asset file is an error, and nothing is made in its place", async () => {
    const source = join(folder, "missing-asset");
    const mounts = [bind(source, { assetDigest: "abc", readOnly: true })];
    const failure = await expectFailure(runtime.create(spec({ mounts })), "conflict", "MountMissing");
    expect(failure.message).toContain(source);
    expect(existsSync(source)).toBe(false);
  });

  test("a missing host folder of a user is made", async () => {
    const source = join(folder, "made");
    expect(await exitCode({ mounts: [bind(source)], command: ["sh", "-c", "echo hello > /m/file"] })).toBe(0);
    expect(existsSync(join(source, "file"))).toBe(true);
  });

  test("asset files are read-only inside, and show what is outside", async () => {
    const source = join(folder, "asset");
    writeFileSync(source, "content");
    const mounts = [bind(source, { assetDigest: "abc", readOnly: true })];
    expect(await exitCode({ mounts, command: ["sh", "-c", 'test "$(cat /m)" = content && ! echo x > /m'] })).toBe(0);
  });

  test("the environment arrives as written, newlines too", async () => {
    const env = { LINES: "a\nb", EQUALS: "x=y", EMPTY: "" };
    const command = ["sh", "-c", 'test "$LINES" = "$(printf \'a\\nb\')" && test "$EQUALS" = x=y && test -z "$EMPTY"'];
    expect(await exitCode({ env, command })).toBe(0);
  });

  test("a megabyte of environment passes, because it is not in the URL", async () => {
    const env = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`V${index}`, "x".repeat(100_000)]));
    const id = await runtime.create(spec({ env }));
    expect(Object.keys((await runtime.inspect(id))?.env ?? {})).toEqual(expect.arrayContaining(["V0", "V11"]));
  });

  test("a command that does not exist is told with the engine's words, and kept with the container", async () => {
    const id = await runtime.create(spec({ command: ["/no/such/command"] }));
    const failure = await expectFailure(runtime.start(id), "conflict", "StartFailed");
    expect(failure.message).toContain("/no/such/command");
    expect(await runtime.inspect(id)).toMatchObject({ state: "created" });
    expect((await runtime.inspect(id))?.error).toContain("/no/such/command");
  });

  test("a port that a process of this machine holds is told with the process", async () => {
    const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    await runtime.ensureNetwork(place.unique("n1"));
    const ports = [{ hostIp: "127.0.0.1", hostPort: server.port, containerPort: 80, protocol: "tcp" as const }];
    const networks = [{ name: place.unique("n1"), aliases: [] }];
    const id = await runtime.create(spec({ networkMode: "bridge", networks, ports }));
    const failure = await expectFailure(runtime.start(id), "conflict", "PortTaken");
    server.stop(true);
    expect(failure.message).toContain(`port ${server.port} is held by process ${process.pid}`);
  });

  test("limits, log rotation and policy reach the engine", async () => {
    const id = await runtime.create(
      spec({
        ulimits: [{ name: "nofile", soft: 1024, hard: 2048 }],
        log: { maxSize: "1m", maxFiles: 2 },
        restart: { name: "on-failure", maximumRetryCount: 4 },
        stopGraceMs: 7_000,
        stopSignal: "SIGQUIT",
      }),
    );
    const { HostConfig: host, Config: config } = await place.docker.getContainer(id.id).inspect();
    expect(host.Ulimits?.map(({ Name, Soft, Hard }) => ({ Name, Soft, Hard }))).toEqual([
      { Name: "nofile", Soft: 1024, Hard: 2048 },
    ]);
    expect(host.LogConfig).toEqual({ Type: "json-file", Config: { "max-size": "1m", "max-file": "2" } });
    expect(host.RestartPolicy).toEqual({ Name: "on-failure", MaximumRetryCount: 4 });
    expect(config).toMatchObject({ StopSignal: "SIGQUIT", StopTimeout: 7 });
  });

  test("containers find each other by alias, and the machine by its name", async () => {
    const network = place.unique("n1");
    await runtime.ensureNetwork(network);
    const server = await runtime.create(
      spec({
        networkMode: "bridge",
        networks: [{ name: network, aliases: ["web.shop", "shop_db.shop.acme"] }],
        command: ["nc", "-l", "-p", "80"],
      }),
    );
    await runtime.start(server);
    const knock = "for try in 1 2 3 4 5 6 7 8 9; do echo hi | nc web.shop 80 && break; sleep 1; done";
    const inScope = "ping -c 1 -w 5 Shop_db";
    const command = ["sh", "-c", `${knock} && ${inScope} && grep -q host.docker.internal /etc/hosts`];
    const change = {
      name: place.unique("b"),
      networkMode: "bridge",
      networks: [{ name: network, aliases: [] }],
      options: { dnsSearch: ["shop.acme"], dnsOptions: ["ndots:1"] },
      command,
    };
    expect(await exitCode(change)).toBe(0);
  });

  describe("networks of one name", () => {
    const networks = async (name: string) =>
      (await place.docker.listNetworks({ filters: { name: [name] } })).map(({ Id }) => Id);

    test("asked for by many at once, one is made", async () => {
      const name = place.unique("many");
      await Promise.all(Array.from({ length: 8 }, () => runtime.ensureNetwork(name)));
      expect(await networks(name)).toHaveLength(1);
    });

    test("twins that a killed server left are tidied up, and the one in use stays", async () => {
      const name = place.unique("twin");
      const labels = { [place.names.label.installation]: place.installationId };
      const twins = await Promise.all([1, 2, 3].map(() => place.docker.createNetwork({ Name: name, Labels: labels })));
      const used = await place.docker.createContainer({
        Image: "berth-fixture:1",
        Labels: labels,
        HostConfig: { NetworkMode: "none" },
      });
      await used.start();
      await place.docker.getNetwork("none").disconnect({ Container: used.id });
      await twins[1]?.connect({ Container: used.id });
      await runtime.ensureNetwork(name);
      expect(await networks(name)).toEqual([twins[1]?.id ?? ""]);
      const one = { networkMode: "bridge", networks: [{ name, aliases: [] }], command: ["true"] };
      expect(await exitCode(one)).toBe(0);
    });

    test("several servers that make one network at once end with one", async () => {
      const options = { host: requireDocker(), installationId: place.installationId, names: place.names };
      const servers = [1, 2, 3, 4].map(() => createDockerEngine(options));
      for (const round of ["a", "b", "c", "d", "e"]) {
        const name = place.unique(`race-${round}`);
        await Promise.all(servers.map((server) => server.ensureNetwork(name)));
        expect(await networks(name)).toHaveLength(1);
      }
      for (const server of servers) server.close();
    });
  });

  test("containers, networks and volumes of others are not ours", async () => {
    const other = scratch();
    try {
      const theirs = createDockerEngine({
        host: requireDocker(),
        installationId: other.installationId,
        names: place.names,
      });
      const id = await theirs.create(spec({ name: place.unique("theirs") }));
      await theirs.ensureVolume(place.unique("v"), {});
      await theirs.ensureNetwork(place.unique("n"));
      expect(await runtime.observe()).toEqual([]);
      expect((await runtime.inspect(id))?.name).toBe(place.unique("theirs"));
      await expectFailure(runtime.ensureVolume(place.unique("v"), {}), "conflict", "VolumeForeign");
      await theirs.remove(id);
      await theirs.removeVolume(place.unique("v"));
      theirs.close();
    } finally {
      await other.cleanUp();
    }
  });

  test("on a network of ours, a container that serves nobody listens on nothing, whatever the engine adds", async () => {
    const sleeping = await runtime.create(spec({ networkMode: "bridge", command: ["sleep", "1000"] }));
    const command = ["httpd", "-f", "-p", "8080"];
    const serving = await runtime.create(spec({ name: place.unique("b"), networkMode: "bridge", command }));
    await runtime.start(sleeping);
    await runtime.start(serving);
    expect(await runtime.connections(sleeping)).toEqual({ listening: false, established: 0, listeners: [] });
    await waitFor("httpd", async () => (await runtime.connections(serving))?.listening === true);
  });

  test("says how much room the engine has", async () => {
    const { rootDir, version } = await runtime.info();
    expect(version).not.toBe("");
    if (existsSync(rootDir)) expect(await runtime.freeBytes()).toBeGreaterThan(0);
    else expect(await runtime.freeBytes()).toBeUndefined();
  });
});
