import { describe, expect, test } from "bun:test";
import type Dockerode from "dockerode";
import { containerDetail, containerRow } from "../../../../../src/orchestration/engine/docker/container-detail.ts";
import { naming } from "../../../../../src/orchestration/core/naming.ts";

const names = naming("berth");

const row = (change: object = {}) =>
  containerRow(
    {
      Id: "c1",
      Names: ["/web.1"],
      Image: "nginx:1",
      ImageID: "sha256:aa",
      Created: 1_700_000_000,
      Labels: { a: "1" },
      State: "running",
      Status: "Up 2 hours",
      ...change,
    } as unknown as Dockerode.ContainerInfo,
    names,
  );

describe("containerRow", () => {
  test("as the engine tells it", () => {
    const networks = { berth0: { IPAddress: "172.20.0.2" }, side: { IPAddress: "" }, host: {} };
    expect(row({ NetworkSettings: { Networks: networks } })).toMatchObject({
      node: "local",
      id: "c1",
      name: "web.1",
      image: "nginx:1",
      imageId: "sha256:aa",
      state: "running",
      status: "Up 2 hours",
      createdAt: 1_700_000_000_000,
      labels: { a: "1" },
      joined: ["berth0", "side", "host"],
      addresses: { berth0: "172.20.0.2" },
    });
  });

  test("the reference given at creation, which the engine forgets when the tag moves", () => {
    expect(row({ Image: "sha256:aa", Labels: { "berth.image": "nginx:1" } }).image).toBe("nginx:1");
  });

  test("the own name among those by which others link to it", () => {
    expect(row({ Names: ["/other/alias", "/web.1"] }).name).toBe("web.1");
  });

  test("without labels and names, and in a state that nobody knows", () => {
    expect(row({ Labels: null, Names: null, State: "hovering" })).toMatchObject({
      labels: {},
      name: "",
      state: "unknown",
    });
  });
});

const info = (state: object = {}, change: object = {}) =>
  containerDetail(
    {
      Id: "c1",
      Name: "/web.1",
      Created: "2024-05-01T10:00:00.123456789Z",
      Image: "sha256:aa",
      RestartCount: 2,
      State: {
        Status: "running",
        OOMKilled: false,
        Pid: 42,
        ExitCode: 0,
        Error: "",
        StartedAt: "2024-05-01T10:00:01Z",
        FinishedAt: "0001-01-01T00:00:00Z",
        ...state,
      },
      Config: {
        Image: "nginx:1",
        Cmd: ["a"],
        Entrypoint: null,
        Env: ["A=1", "B=x=y"],
        WorkingDir: "/",
        Labels: null,
        Tty: false,
      },
      HostConfig: { RestartPolicy: { Name: "always" }, NanoCpus: 0, Memory: 0 },
      NetworkSettings: {
        Ports: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "8080" }], "443/tcp": null },
        Networks: { berth0: { NetworkID: "n1", IPAddress: "172.20.0.2", Gateway: "172.20.0.1", Aliases: null } },
      },
      Mounts: [
        {
          Type: "volume",
          Name: "data",
          Source: "/var/lib/docker/volumes/data/_data",
          Destination: "/d",
          Mode: "z",
          RW: true,
        },
        { Type: "bind", Source: "/srv", Destination: "/s", Mode: "ro", RW: false },
      ],
      ...change,
    } as unknown as Dockerode.ContainerInspectInfo,
    names,
  );

describe("containerDetail", () => {
  test("of a running container", () => {
    expect(info()).toMatchObject({
      node: "local",
      id: "c1",
      name: "web.1",
      image: "nginx:1",
      imageId: "sha256:aa",
      state: "running",
      status: "running",
      createdAt: Date.UTC(2024, 4, 1, 10, 0, 0, 123),
      labels: {},
      joined: ["berth0"],
      addresses: { berth0: "172.20.0.2" },
      startedAt: Date.UTC(2024, 4, 1, 10, 0, 1),
      finishedAt: undefined,
      exitCode: undefined,
      oomKilled: false,
      error: "",
      restartCount: 2,
      pid: 42,
      command: ["a"],
      entrypoint: [],
      workingDir: "/",
      env: { A: "1", B: "x=y" },
      networks: { berth0: { networkId: "n1", ipAddress: "172.20.0.2", gateway: "172.20.0.1", aliases: [] } },
      mounts: [
        {
          type: "volume",
          source: "data",
          destination: "/d",
          mode: "z",
          rw: true,
          hostPath: "/var/lib/docker/volumes/data/_data",
        },
        { type: "bind", source: "/srv", destination: "/s", mode: "ro", rw: false, hostPath: "/srv" },
      ],
      ports: [{ container: "80/tcp", hostIp: "127.0.0.1", hostPort: "8080" }],
      restartPolicy: "always",
      stopGraceMs: 10_000,
      nanoCpus: undefined,
      memoryBytes: undefined,
      tty: false,
    });
  });

  test("an exit code is told of those that have ended", () => {
    const exitCode = (Status: string) => info({ Status, ExitCode: 3 }).exitCode;
    expect(["exited", "restarting", "dead"].map(exitCode)).toEqual([3, 3, 3]);
    expect(["running", "created", "paused"].map(exitCode)).toEqual([undefined, undefined, undefined]);
    expect(info({ Status: "exited", ExitCode: 0 }).exitCode).toBe(0);
  });

  test("why the last start failed", () => {
    expect(info({ Status: "created", Error: "no such file", Pid: 0 })).toMatchObject({
      state: "created",
      error: "no such file",
      pid: undefined,
    });
  });
});
