import { describe, expect, test } from "bun:test";
import type { PodKind } from "../../../../src/orchestration/api/manifest.ts";
import { readIngress } from "../../../../src/ingress/core/ingress-spec.ts";
import { createUpstreams } from "../../../../src/ingress/core/upstreams.ts";
import { endpoint, ingress, sitesInput } from "../../../support/ingress-input.ts";

type Fields = Parameters<typeof sitesInput>[0];

function found(spec: Record<string, unknown>, fields: Fields) {
  const manifest = ingress("web", spec);
  return createUpstreams(sitesInput(fields))(manifest, readIngress(manifest));
}
const addresses = (spec: Record<string, unknown>, fields: Fields) =>
  found(spec, fields).upstreams.map(
    ({ address, port, isLeaving }) => `${address}:${port}${isLeaving ? " leaving" : ""}`,
  );
const kinds = (...all: PodKind[]) => ({ serviceKinds: () => all });

describe("replicas", () => {
  test("ready and leaving replicas are upstreams, in the order of their ids", () => {
    const endpoints = [
      endpoint({ id: "c3", ip: "10.1.0.4", ready: false, leaving: true }),
      endpoint({ id: "c1", ip: "10.1.0.2" }),
      endpoint({ id: "c2", ip: "10.1.0.3", ready: false }),
      endpoint({ id: "c4", ip: undefined }),
      endpoint({ id: "c5", name: "other" }),
      endpoint({ id: "c6", scope: "blog" }),
    ];
    expect(found({}, { endpoints })).toEqual({
      upstreams: [
        { id: "c1", replica: "abc", address: "10.1.0.2", port: 8080, weight: 100, isLeaving: false },
        { id: "c3", replica: "abc", address: "10.1.0.4", port: 8080, weight: 100, isLeaving: true },
      ],
      problem: undefined,
    });
  });
  test("the port is that of the ingress, else the first of each replica, else 80", () => {
    expect(addresses({ port: 9000 }, { endpoints: [endpoint()] })).toEqual(["10.1.0.2:9000"]);
    expect(addresses({}, { endpoints: [endpoint({ ports: [3000, 80] })] })).toEqual(["10.1.0.2:3000"]);
    const { upstreams, problem } = found({}, { endpoints: [endpoint({ ports: [] })] });
    expect(upstreams[0]?.port).toBe(80);
    expect(problem?.reason).toBe("PortAssumed");
    expect(problem?.message).toContain("port 80 is used");
  });
  test("the service may be another resource of the scope", () => {
    const endpoints = [endpoint({ name: "api", ip: "10.1.0.9" }), endpoint()];
    expect(addresses({ service: "api" }, { endpoints, ...kinds("deployment") })).toEqual(["10.1.0.9:8080"]);
  });
});

const database = [0, 1].map((ordinal) =>
  endpoint({ kind: "statefulset", id: `d${ordinal}`, ordinal, replica: `${ordinal}`, ip: `10.2.0.${ordinal}` }),
);

describe("statefulsets", () => {
  test("all replicas, or one ordinal", () => {
    const fields = { endpoints: database, ...kinds("statefulset") };
    expect(addresses({}, fields)).toEqual(["10.2.0.0:8080", "10.2.0.1:8080"]);
    expect(addresses({ ordinal: 1 }, fields)).toEqual(["10.2.0.1:8080"]);
  });
  test("of two kinds with one name the deployment counts, unless the ingress names an ordinal", () => {
    const fields = { endpoints: [...database, endpoint()], ...kinds("deployment", "statefulset") };
    expect(addresses({}, fields)).toEqual(["10.1.0.2:8080"]);
    expect(addresses({ ordinal: 0 }, fields)).toEqual(["10.2.0.0:8080"]);
  });
});

describe("problems", () => {
  test.each<[string, Record<string, unknown>, Fields, string]>([
    ["ServiceMissing", {}, kinds(), "service: there is no deployment or statefulset shop/web"],
    ["NoReplica", {}, {}, "no replica of shop/web is ready"],
    ["NoReplica", {}, { endpoints: [endpoint({ ready: false, leaving: true })] }, "no replica of shop/web is ready"],
    ["NoReplica", { ordinal: 3 }, kinds("statefulset"), "replica 3 of shop/web is not ready"],
    ["OrdinalOfDeployment", { ordinal: 0 }, { endpoints: [endpoint()] }, "ordinal: shop/web is a deployment"],
    ["PlaneMissing", { service: "@identity" }, { planes: {} }, "service: @identity does not run"],
    ["PlaneMissing", { service: "@later" }, {}, "service: @later does not run"],
  ])("%s with %j", (reason, spec, fields, message) => {
    const { problem } = found(spec, fields);
    expect(problem?.reason).toBe(reason as never);
    expect(problem?.message).toStartWith(message);
  });
  test("replicas of a deleted service go on leaving", () => {
    const endpoints = [endpoint({ ready: false, leaving: true })];
    expect(addresses({}, { endpoints, ...kinds() })).toEqual(["10.1.0.2:8080 leaving"]);
  });
});

test("a part of the server is a single upstream", () => {
  expect(found({ service: "@identity" }, {})).toEqual({
    upstreams: [
      { id: "@identity", replica: "@identity", address: "127.0.0.1", port: 8688, weight: 100, isLeaving: false },
    ],
    problem: undefined,
  });
});
