import { afterEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import type { DockerClient } from "../../../../../src/orchestration/engine/docker/client.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import { createFreeBytes } from "../../../../../src/orchestration/engine/docker/info.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { type Answer, type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";

let fake: FakeEngine;
afterEach(() => fake.close());

const runtimeOn = async (answer: Answer) => {
  fake = await startFakeEngine(answer);
  return createDockerEngine({ host: fake.host, installationId: "i1", names: naming("berth") });
};
const asked = () => fake.requests.map(({ method, path }) => `${method} ${path}`);
const ours = { createdby: "berth", "berth.installation": "i1" };

describe("networks", () => {
  test("one that is there is left alone, whoever made it", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 200, { Name: "berth0", Labels: null }));
    await runtime.ensureNetwork("berth0");
    expect(asked()).toEqual(["GET /networks/berth0"]);
  });

  test("a missing one is made, with our labels", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.path === "/networks/berth0") return refuse(response, 404, "network berth0 not found");
      if (request.method === "GET") return sendJson(response, 200, [{ Name: "berth0", Id: "n1", Created: "" }]);
      sendJson(response, 201, { Id: "n1" });
    });
    await runtime.ensureNetwork("berth0");
    expect(asked()).toEqual(["GET /networks/berth0", "POST /networks/create", "GET /networks"]);
    expect(JSON.parse(fake.requests[1]?.body ?? "")).toMatchObject({ Name: "berth0", Driver: "bridge", Labels: ours });
  });

  test("one that somebody else makes at the same time is as good, one found by the beginning of its id is not", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.method === "GET") return sendJson(response, 200, { Name: "other", Id: "abc123" });
      refuse(response, 409, "network with name abc already exists");
    });
    await runtime.ensureNetwork("abc");
    expect(asked()).toEqual(["GET /networks/abc", "POST /networks/create"]);
  });

  test("several who look after it at the same moment ask once, later ones again", async () => {
    const Config = [{ Subnet: "172.18.0.0/16", Gateway: "172.18.0.1" }];
    const runtime = await runtimeOn((_request, response) =>
      sendJson(response, 200, { Name: "berth0", IPAM: { Config } }),
    );
    const looks = [runtime.networkGateway("berth0"), runtime.networkGateway("berth0")];
    expect(await Promise.all(looks)).toEqual(["172.18.0.1", "172.18.0.1"]);
    expect(asked()).toHaveLength(1);
    expect(await runtime.networkSubnets("berth0")).toEqual(["172.18.0.0/16"]);
    expect(asked()).toHaveLength(2);
  });

  const twin = (Id: string, change: object = {}) => ({ Name: "berth0", Id, Labels: ours, Created: Id, ...change });
  const tidied = async (...twins: ReturnType<typeof twin>[]) => {
    const runtime = await runtimeOn((request, response) => {
      if (request.path === "/networks/berth0") return refuse(response, 404, "network berth0 not found");
      if (request.method === "POST") return sendJson(response, 201, { Id: "2" });
      if (request.method === "DELETE") return response.writeHead(204).end();
      const one = twins.find(({ Id }) => request.path === `/networks/${Id}`);
      sendJson(response, 200, one ?? [{ Name: "berth0-x", Id: "0", Created: "0" }, ...twins]);
    });
    await runtime.ensureNetwork("berth0");
    return asked().filter((call) => call.startsWith("DELETE"));
  };

  test("of several made at once the younger ones go, a name that only contains it does not count", async () => {
    expect(await tidied(twin("2"), twin("1"))).toEqual(["DELETE /networks/2"]);
    // Ours was seen first, and is older than what showed itself before it.
    expect(await tidied(twin("2"), twin("3"))).toEqual(["DELETE /networks/3"]);
  });

  test("of several made at once the one in use stays, and what is not ours", async () => {
    const used = { Containers: { c1: {} } };
    expect(await tidied(twin("1"), twin("2", used))).toEqual(["DELETE /networks/1"]);
    expect(await tidied(twin("2"), twin("1"), twin("3", { Labels: {} }))).toEqual(["DELETE /networks/2"]);
  });

  test("a failure to make one is told", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.method === "GET") return refuse(response, 404, "network berth0 not found");
      refuse(response, 500, "could not find an available, non-overlapping IPv4 address pool");
    });
    const failure = await expectFailure(runtime.ensureNetwork("berth0"), "conflict");
    expect(failure.message).toContain("address pool");
  });
});

describe("volumes", () => {
  const claim = { "berth.scope": "shop", "berth.name": "db" };

  test("one that somebody else made between the look and the making is checked like any other", async () => {
    let looks = 0;
    const runtime = await runtimeOn((request, response) => {
      if (request.method === "POST") return sendJson(response, 201, { Name: "v" });
      looks += 1;
      if (looks === 1) return refuse(response, 404, "get v: no such volume");
      sendJson(response, 200, { Name: "v", Labels: { ...ours, ...claim, "berth.name": "other" } });
    });
    await expectFailure(runtime.ensureVolume("v", claim), "conflict", "VolumeForeign");
  });

  test("one without labels belongs to nobody", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 200, { Name: "v", Labels: null }));
    expect(await runtime.ensureVolume("v", claim)).toEqual({ created: false });
  });

  test("none at all is an empty list", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 200, { Volumes: null, Warnings: null }));
    expect(await runtime.listVolumes({ a: "1" })).toEqual([]);
    expect(JSON.parse(fake.requests[0]?.query.get("filters") ?? "")).toEqual({ label: ["a=1"] });
  });
});

describe("the engine", () => {
  const facts = {
    ServerVersion: "20.10.24",
    CgroupVersion: "2",
    LiveRestoreEnabled: true,
    DockerRootDir: "/",
    OperatingSystem: "Debian",
    Architecture: "x86_64",
    NCPU: 4,
    InitBinary: "docker-init",
    InitCommit: { ID: "de40ad0" },
  };

  test("is described", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 200, facts));
    expect(await runtime.info()).toEqual({
      version: "20.10.24",
      apiVersion: "1.41",
      cgroupVersion: 2,
      liveRestore: true,
      hasInit: true,
      rootDir: "/",
      operatingSystem: "Debian",
      architecture: "x86_64",
      cpus: 4,
    });
  });

  test("without details is described as the least", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 200, {}));
    expect(await runtime.info()).toMatchObject({ cgroupVersion: 1, liveRestore: false, version: "" });
  });

  test.each<[object]>([[{}], [{ InitBinary: "" }], [{ ...facts, InitCommit: { ID: "N/A" } }]])(
    "%j has no init",
    async (said) => {
      const runtime = await runtimeOn((_request, response) => sendJson(response, 200, said));
      expect(await runtime.info()).toMatchObject({ hasInit: false });
    },
  );

  test("on this machine is asked once in five minutes where its disk is", async () => {
    const clock = createFakeClock();
    let asked = 0;
    const client = { local: true, call: async () => ({ DockerRootDir: `/${++asked > 2 ? "missing" : ""}` }) };
    const free = createFreeBytes(client as unknown as DockerClient, clock);
    expect(await free()).toBeGreaterThan(0);
    clock.moveTo(clock.steady() + 299_000);
    expect(await free()).toBeGreaterThan(0);
    expect(asked).toBe(1);
    clock.moveTo(clock.steady() + 1_000);
    await free();
    expect(asked).toBe(2);
    clock.moveTo(clock.steady() + 300_000);
    expect(await free()).toBeUndefined();
  });

  test("behind an address has a disk that is not to be seen from here", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 200, facts));
    expect(await runtime.freeBytes()).toBeUndefined();
    expect(asked()).toEqual([]);
  });
});
