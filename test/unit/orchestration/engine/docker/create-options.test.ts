import { describe, expect, test } from "bun:test";
import type {
  ContainerSpec,
  EngineOptions,
  Mount,
  PortBinding,
} from "../../../../../src/orchestration/core/workload.ts";
import {
  createRequest,
  endpointSettings,
  wholeSeconds,
} from "../../../../../src/orchestration/engine/docker/create-options.ts";
import { containerSpec } from "../../../../support/container-spec.ts";

/** As it goes over the wire: without what is undefined. */
const sent = (change: Partial<ContainerSpec> = {}, labels = {}) =>
  JSON.parse(JSON.stringify(createRequest(containerSpec(change), labels)));
const body = (change: Partial<ContainerSpec> = {}) => sent(change)._body;
const host = (change: Partial<ContainerSpec> = {}) => body(change).HostConfig;

test("the smallest container", () => {
  expect(sent({ name: "web.1", image: "app:1", command: undefined }, { a: "1" })).toEqual({
    _query: { name: "web.1" },
    _body: {
      Image: "app:1",
      Env: [],
      Labels: { a: "1" },
      StopTimeout: 0,
      ExposedPorts: {},
      HostConfig: {
        NetworkMode: "bridge",
        PortBindings: {},
        Binds: [],
        Mounts: [],
        RestartPolicy: { Name: "no" },
        LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
        ExtraHosts: ["host.docker.internal:host-gateway"],
        CapAdd: [],
        Ulimits: [],
        PidsLimit: 4096,
      },
    },
  });
});

test("only the name is outside of the body: secrets stay out of the URL", () => {
  expect(Object.keys(createRequest(containerSpec({ env: { TOKEN: "secret" } }), {}))).toEqual(["_query", "_body"]);
  expect(sent({ name: "web.1", env: { TOKEN: "secret" } })._query).toEqual({ name: "web.1" });
});

test("command, entrypoint, environment and signal", () => {
  const change = {
    command: ["serve", "--port", "80"],
    env: { A: "1", EMPTY: "", EQUALS: "a=b", LINES: "a\nb" },
    stopSignal: "SIGQUIT",
    stopGraceMs: 10_500,
    options: { entrypoint: ["/init"], user: "1000:1000", workingDir: "/srv", hostname: "web" },
  };
  expect(body(change)).toMatchObject({
    Cmd: ["serve", "--port", "80"],
    Env: ["A=1", "EMPTY=", "EQUALS=a=b", "LINES=a\nb"],
    StopSignal: "SIGQUIT",
    StopTimeout: 11,
    Entrypoint: ["/init"],
    User: "1000:1000",
    WorkingDir: "/srv",
    Hostname: "web",
  });
});

test("a command that was not written is the image's, an empty one is empty", () => {
  expect(body({ command: undefined })).not.toHaveProperty("Cmd");
  expect(body({ command: [] }).Cmd).toEqual([]);
});

describe("ports", () => {
  const port = (change: Partial<PortBinding> = {}): PortBinding => ({
    hostIp: "127.0.0.1",
    hostPort: 8080,
    containerPort: 80,
    protocol: "tcp",
    ...change,
  });

  test("fixed, free, by protocol, and several for one port of the container", () => {
    const ports = [
      port(),
      port({ hostIp: "0.0.0.0", hostPort: 80 }),
      port({ hostPort: undefined, containerPort: 9000 }),
      port({ protocol: "udp", hostPort: 53, containerPort: 53 }),
    ];
    expect(body({ ports }).ExposedPorts).toEqual({ "80/tcp": {}, "9000/tcp": {}, "53/udp": {} });
    expect(host({ ports }).PortBindings).toEqual({
      "80/tcp": [
        { HostIp: "127.0.0.1", HostPort: "8080" },
        { HostIp: "0.0.0.0", HostPort: "80" },
      ],
      "9000/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }],
      "53/udp": [{ HostIp: "127.0.0.1", HostPort: "53" }],
    });
  });

  test.each(["host", "none"] as const)("none in mode %s", (networkMode) => {
    const change = { networkMode, ports: [port()], networks: [{ name: "n", aliases: ["a"] }] };
    expect(host(change)).toMatchObject({ NetworkMode: networkMode, PortBindings: {}, ExtraHosts: [] });
    expect(body(change).ExposedPorts).toEqual({});
    expect(body(change)).not.toHaveProperty("NetworkingConfig");
  });
});

describe("storage", () => {
  const mount = (change: Partial<Mount>): Mount => ({
    type: "bind",
    source: "/srv/data",
    target: "/data",
    readOnly: false,
    ...change,
  });

  test("what the image has is not copied again to a volume that has an owner", () => {
    const volume = mount({ type: "volume", source: "data" });
    const owned = { ...volume, target: "/owned", owner: { uid: 1, gid: 2 } };
    const { Mounts } = host({ mounts: [volume, owned] }) as { Mounts: object[] };
    expect(Mounts[0]).not.toHaveProperty("VolumeOptions");
    expect(Mounts[1]).toMatchObject({ Target: "/owned", VolumeOptions: { NoCopy: true } });
  });

  test("a host folder is made when it is missing", () => {
    const mounts = [mount({}), mount({ source: "/etc/app", target: "/etc/app", readOnly: true })];
    expect(host({ mounts })).toMatchObject({ Binds: ["/srv/data:/data", "/etc/app:/etc/app:ro"], Mounts: [] });
  });

  test("an asset file that is missing is an error", () => {
    const mounts = [mount({ source: "/assets/x", assetDigest: "abc", readOnly: true })];
    expect(host({ mounts })).toMatchObject({
      Binds: [],
      Mounts: [{ Type: "bind", Source: "/assets/x", Target: "/data", ReadOnly: true }],
    });
  });

  test("a volume goes by its name", () => {
    const mounts = [mount({ type: "volume", source: "berth-shop-db-data-0" })];
    expect(host({ mounts }).Mounts).toEqual([
      { Type: "volume", Source: "berth-shop-db-data-0", Target: "/data", ReadOnly: false },
    ]);
  });
});

describe("networks", () => {
  test("the first is there from the start, with its aliases; the others are not part of the request", () => {
    const networks = [
      { name: "berth0", aliases: ["web.shop", "web.shop.berth"] },
      { name: "extra", aliases: ["web.shop"] },
    ];
    expect(host({ networks }).NetworkMode).toBe("berth0");
    expect(body({ networks }).NetworkingConfig).toEqual({
      EndpointsConfig: { berth0: { Aliases: ["web.shop", "web.shop.berth"] } },
    });
  });

  test("the engine's default bridge takes no aliases", () => {
    expect(endpointSettings({ name: "bridge", aliases: ["a"] })).toEqual({});
    expect(endpointSettings({ name: "berth0", aliases: [] })).toEqual({});
    expect(endpointSettings({ name: "berth0", aliases: ["a"] })).toEqual({ Aliases: ["a"] });
  });

  test("the machine itself has a name, which the user may give another meaning", () => {
    expect(host({ extraHosts: ["db:10.0.0.1"] }).ExtraHosts).toEqual([
      "host.docker.internal:host-gateway",
      "db:10.0.0.1",
    ]);
    expect(host({ extraHosts: ["host.docker.internal:10.0.0.9"] }).ExtraHosts).toEqual([
      "host.docker.internal:10.0.0.9",
    ]);
    expect(host({ networkMode: "host", extraHosts: ["db:10.0.0.1"] }).ExtraHosts).toEqual(["db:10.0.0.1"]);
  });
});

describe("limits", () => {
  test("resources, capabilities and ulimits", () => {
    const change = {
      nanoCpus: 1_500_000_000,
      memoryBytes: 536_870_912,
      capAdd: ["NET_ADMIN"],
      ulimits: [{ name: "nofile", soft: 1024, hard: 65_536 }],
      log: { maxSize: "5m", maxFiles: 7 },
    };
    expect(host(change)).toMatchObject({
      NanoCpus: 1_500_000_000,
      Memory: 536_870_912,
      CapAdd: ["NET_ADMIN"],
      Ulimits: [{ Name: "nofile", Soft: 1024, Hard: 65_536 }],
      LogConfig: { Type: "json-file", Config: { "max-size": "5m", "max-file": "7" } },
    });
  });

  test("a retry count goes only with on-failure", () => {
    const restart = (name: ContainerSpec["restart"]["name"]) =>
      host({ restart: { name, maximumRetryCount: 5 } }).RestartPolicy;
    expect(restart("on-failure")).toEqual({ Name: "on-failure", MaximumRetryCount: 5 });
    expect(restart("always")).toEqual({ Name: "always" });
    expect(restart("unless-stopped")).toEqual({ Name: "unless-stopped" });
    expect(restart("no")).toEqual({ Name: "no" });
  });
});

test("every raw engine option reaches its field", () => {
  // The others are no part of the host config: names on networks are with the networks.
  type Elsewhere = "labels" | "user" | "workingDir" | "hostname" | "entrypoint" | "networkAliases";
  const options: Required<Omit<EngineOptions, Elsewhere>> = {
    init: true,
    privileged: true,
    readonlyRootfs: true,
    capDrop: ["ALL"],
    dns: ["1.1.1.1"],
    dnsSearch: ["local"],
    dnsOptions: ["ndots:1"],
    groupAdd: ["audio"],
    securityOpt: ["no-new-privileges"],
    sysctls: { "net.core.somaxconn": "1024" },
    tmpfs: { "/run": "size=64m" },
    devices: [{ pathOnHost: "/dev/a", pathInContainer: "/dev/b", permissions: "rw" }],
    shmSizeBytes: 1,
    memoryReservationBytes: 2,
    memorySwapBytes: -1,
    pidsLimit: 3,
    cpuShares: 4,
    cpusetCpus: "0-1",
    oomScoreAdj: -5,
    ipcMode: "host",
    pidMode: "host",
  };
  expect(host({ options })).toMatchObject({
    Init: true,
    Privileged: true,
    ReadonlyRootfs: true,
    CapDrop: ["ALL"],
    Dns: ["1.1.1.1"],
    DnsSearch: ["local"],
    DnsOptions: ["ndots:1"],
    GroupAdd: ["audio"],
    SecurityOpt: ["no-new-privileges"],
    Sysctls: { "net.core.somaxconn": "1024" },
    Tmpfs: { "/run": "size=64m" },
    Devices: [{ PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "rw" }],
    ShmSize: 1,
    MemoryReservation: 2,
    MemorySwap: -1,
    PidsLimit: 3,
    CpuShares: 4,
    CpusetCpus: "0-1",
    OomScoreAdj: -5,
    IpcMode: "host",
    PidMode: "host",
  });
});

test("wholeSeconds never cuts a grace short", () => {
  expect([0, 1, 999, 1000, 1001].map(wholeSeconds)).toEqual([0, 1, 1, 1, 2]);
});

test("a terminal has its size from the start, rows first", () => {
  const attach = { tty: true, interactive: true };
  expect(host({ attach: { ...attach, size: { cols: 99, rows: 33 } } }).ConsoleSize).toEqual([33, 99]);
  expect([host({ attach }), host()].map(({ ConsoleSize: size }) => size)).toEqual([undefined, undefined]);
});
