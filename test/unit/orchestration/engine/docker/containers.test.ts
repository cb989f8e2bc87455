import { afterEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import { containerSpec } from "../../../../support/container-spec.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { type Answer, type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let fake: FakeEngine;
afterEach(() => fake.close());

const runtimeOn = async (answer: Answer, timeouts = {}) => {
  fake = await startFakeEngine(answer);
  return createDockerEngine({ host: fake.host, installationId: "i1", names: naming("berth"), timeouts });
};
const asked = () => fake.requests.map(({ method, path }) => `${method} ${path}`);

describe("create", () => {
  const twoNetworks = {
    name: "web.1",
    networks: [
      { name: "berth0", aliases: ["web"] },
      { name: "extra", aliases: ["web"] },
    ],
  };

  test("keeps everything but the name out of the URL", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 201, { Id: "c1" }));
    await runtime.create(containerSpec({ name: "web.1", env: { TOKEN: "s3cret" }, labels: { l: "value" } }));
    expect(fake.requests[0]?.url).toBe("/v1.41/containers/create?name=web.1");
    expect(JSON.parse(fake.requests[0]?.body ?? "")).toMatchObject({
      Env: ["TOKEN=s3cret"],
      Labels: { l: "value", createdby: "berth", "berth.installation": "i1", "berth.image": "berth-fixture:1" },
    });
  });

  test("connects the other networks, and only those", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 201, { Id: "c1" }));
    expect(await runtime.create(containerSpec(twoNetworks))).toEqual(podRef("c1"));
    expect(asked()).toEqual(["POST /containers/create", "POST /networks/extra/connect"]);
    expect(JSON.parse(fake.requests[1]?.body ?? "")).toEqual({ Container: "c1", EndpointConfig: { Aliases: ["web"] } });
  });

  test("removes the container when a network cannot be joined, and tells that", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.path.endsWith("/connect")) return refuse(response, 404, "network extra not found");
      sendJson(response, 201, { Id: "c1" });
    });
    const failure = await expectFailure(runtime.create(containerSpec(twoNetworks)), "conflict", "StartFailed");
    expect(failure.message).toContain("network extra not found");
    expect(asked().at(-1)).toBe("DELETE /containers/c1");
  });

  test("a network that no engine could know does not reach it as a path", async () => {
    const runtime = await runtimeOn((_request, response) => sendJson(response, 201, { Id: "c1" }));
    const networks = [
      { name: "berth0", aliases: [] },
      { name: "../x", aliases: [] },
    ];
    const failure = await expectFailure(runtime.create(containerSpec({ networks })), "conflict", "StartFailed");
    expect(failure.message).toContain('"../x"');
    expect(asked()).toEqual(["POST /containers/create", "DELETE /containers/c1"]);
  });
});

test("list asks the engine for what is ours and of the resource, in every state", async () => {
  const runtime = await runtimeOn((_request, response) => sendJson(response, 200, []));
  await runtime.observe({ kind: "deployment", scope: "shop", name: "web" });
  expect(fake.requests[0]?.query.get("all")).toBe("true");
  expect(JSON.parse(fake.requests[0]?.query.get("filters") ?? "")).toEqual({
    label: ["berth.installation=i1", "berth.kind=deployment", "berth.scope=shop", "berth.name=web"],
  });
});

describe("start", () => {
  const taken = "driver failed: Bind for 0.0.0.0:8080 failed: port is already allocated";

  test("names the container that holds the port", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.path.endsWith("/start")) return refuse(response, 500, taken);
      const other = { Names: ["/quiet"], Ports: [{ PrivatePort: 8080, Type: "tcp" }] };
      sendJson(response, 200, [
        other,
        { Names: ["/other"], Ports: [{ PublicPort: 8080, PrivatePort: 80, Type: "tcp" }] },
      ]);
    });
    const failure = await expectFailure(runtime.start(podRef("web.1")), "conflict", "PortTaken");
    expect(failure.message).toContain('host port 8080 is held by container "other"');
  });

  test("tells of the port alone when nobody is found", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.path.endsWith("/start")) return refuse(response, 500, taken);
      sendJson(response, 200, []);
    });
    const failure = await expectFailure(runtime.start(podRef("web.1")), "conflict", "PortTaken");
    expect(failure.message).toContain(taken);
  });

  test("is fine with one that runs", async () => {
    const runtime = await runtimeOn((_request, response) => response.writeHead(304).end());
    await runtime.start(podRef("web.1"));
  });
});

describe("stop", () => {
  test("gives whole seconds of grace", async () => {
    const runtime = await runtimeOn((_request, response) => response.writeHead(204).end());
    await runtime.stop(podRef("web.1"), { graceMs: 1_500 });
    expect(fake.requests[0]?.query.get("t")).toBe("2");
  });

  test("waits for the grace and the slack, longer than any other call, and no longer", async () => {
    const runtime = await runtimeOn(() => undefined, { callMs: 1_000, stopSlackMs: 40 });
    const failure = await expectFailure(runtime.stop(podRef("web.1"), { graceMs: 0 }), "timeout", "Timeout");
    expect(failure.message).toContain("within 0.04 s");
    const longer = await expectFailure(runtime.stop(podRef("web.1"), { graceMs: 100 }), "timeout", "Timeout");
    expect(longer.message).toContain("within 1.04 s");
  });
});

describe("remove", () => {
  test("takes running ones and their anonymous volumes", async () => {
    const runtime = await runtimeOn((_request, response) => response.writeHead(204).end());
    await runtime.remove(podRef("web.1"));
    expect(Object.fromEntries(fake.requests[0]?.query ?? [])).toEqual({ force: "true", v: "true" });
  });

  test("waits for a removal under way", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.method === "DELETE")
        return refuse(response, 409, "removal of container web.1 is already in progress");
      sendJson(response, 200, { StatusCode: 0 });
    });
    await runtime.remove(podRef("web.1"));
    expect(asked()).toEqual(["DELETE /containers/web.1", "POST /containers/web.1/wait"]);
    expect(fake.requests[1]?.query.get("condition")).toBe("removed");
  });

  test("is fine when the removal under way is over before we could wait", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.method === "DELETE")
        return refuse(response, 409, "removal of container web.1 is already in progress");
      refuse(response, 404, "No such container: web.1");
    });
    await runtime.remove(podRef("web.1"));
  });
});

test("names that the engine could not have never become a path", async () => {
  const runtime = await runtimeOn((_request, response) => sendJson(response, 200, {}));
  for (const name of ["..", "../info", "a/b", "", "a?x", "a#x", "%2e%2e"]) {
    expect(await runtime.inspect(podRef(name))).toBeUndefined();
    expect(await runtime.inspectVolume(name)).toBeUndefined();
    await runtime.remove(podRef(name));
    await runtime.removeVolume(name);
    await expectFailure(runtime.start(podRef(name)), "not_found");
  }
  expect(asked()).toEqual([]);
});
