import { describe, expect, test } from "bun:test";
import { readExpansion, takePin } from "../../../../../src/orchestration/core/plugins/expansion.ts";
import { limits } from "../../../../../src/config/config.ts";

const block = { index: 0, kind: "pg", scope: "data", name: "main", spec: {} };
const set = { kind: "Statefulsets", name: "main", spec: { image: "a:1" } };

describe("spec.plugin", () => {
  test("is taken out, whatever it is", () => {
    expect(takePin({ a: 1 })).toEqual({ spec: { a: 1 }, pin: { version: undefined, repo: undefined }, problems: [] });
    expect(takePin({ a: 1, plugin: { version: "1.2", repo: "me/it" } })).toEqual({
      spec: { a: 1 },
      pin: { version: "1.2", repo: "me/it" },
      problems: [],
    });
    expect(takePin({ plugin: null }).spec).toEqual({});
    expect(takePin({ plugin: { version: null, repo: "" } }).pin).toEqual({ version: undefined, repo: undefined });
  });

  test("of the wrong type is told with its place", () => {
    expect(takePin({ plugin: "redis" }).problems).toMatchObject([{ path: "spec.plugin" }]);
    expect(takePin({ plugin: { version: 1.2, repo: ["x"] } }).problems.map(({ path }) => path)).toEqual([
      "spec.plugin.version",
      "spec.plugin.repo",
    ]);
  });
});

describe("an expansion", () => {
  test("kinds in one spelling, the block's scope where there is none, a registry without one, nulls as nothing", () => {
    const registry = { kind: "registry", name: "acme", spec: { url: "registry.example", username: "a", token: "b" } };
    const asset = { kind: "asset", scope: null, name: "main", spec: { files: { a: "b" } }, metadata: { revision: 3 } };
    const { manifests, problems } = readExpansion([set, registry, asset], block, limits);
    expect(problems).toEqual([]);
    expect(manifests.map(({ kind, scope }) => [kind, scope])).toEqual([
      ["statefulset", "data"],
      ["registry", ""],
      ["asset", "data"],
    ]);
  });

  test("nothing at all is fine: the block has become nothing", () => {
    for (const data of [[], { manifests: [] }, { manifests: null, actions: null }]) {
      expect(readExpansion(data, block, limits)).toEqual({ manifests: [], actions: [], problems: [], leftOut: [] });
    }
  });

  test("asks for nothing on an operator's terminal, with manifests or without", () => {
    const actions = [
      { type: "config_set", scope: "data", name: "main", kv: { A: "1" } },
      { type: "exec_local", command: ["psql"] },
      { type: "fetch_file", remote_path: "/a", dest_path: "a" },
    ];
    for (const manifests of [[], [set]]) {
      expect(readExpansion({ manifests, actions }, block, limits).problems).toEqual([
        { path: "actions[1]", message: expect.stringContaining('"exec_local" is for the operator\'s terminal') },
        { path: "actions[2]", message: expect.stringContaining('"fetch_file"') },
      ]);
    }
  });

  test("a field that nobody knows is left out, at whatever depth; a wrong value is a problem", () => {
    const spec = {
      image: "a:1",
      sidecar: true,
      probes: { liveness: { http_get: { path: "/", port: 80, scheme: "http", verify: 1 }, gate: { a: 1 } } },
      inits: [{ name: "one", image: "a", command: ["a"], shell: "sh" }],
    };
    const { manifests, problems, leftOut } = readExpansion([{ ...set, extra: 1, spec }], block, limits);
    expect(problems).toEqual([]);
    expect(manifests[0]?.spec).toMatchObject({ image: "a:1", inits: [{ name: "one", image: "a" }] });
    expect(JSON.stringify(manifests)).not.toMatch(/sidecar|verify|gate|shell|extra/);
    expect(leftOut.sort()).toEqual([
      "extra of statefulsets/data/main",
      "spec.inits[0].shell of statefulsets/data/main",
      "spec.probes.liveness.gate of statefulsets/data/main",
      "spec.probes.liveness.http_get.verify of statefulsets/data/main",
      "spec.sidecar of statefulsets/data/main",
    ]);
    const wrong = readExpansion([{ ...set, spec: { image: 7, foo: 1 } }], block, limits);
    expect(wrong.problems.map(({ path }) => path)).toEqual(["spec.image"]);
    const misspelled = readExpansion([{ ...set, spec: { image: "a", replicsa: 2 } }], block, limits);
    expect(misspelled.problems).toMatchObject([{ path: "spec.replicsa", reason: "UnknownField" }]);
  });

  test.each([
    ["ingress", { host: "a.example", ip_whitelist: ["10.0.0.0/8"] }, "spec.ip_whitelist"],
    ["ingress", { host: "a.example", forward_auth: {} }, "spec.forward_auth"],
    ["ingress", { host: "a.example", tls: { client_ca: "x" } }, "spec.tls.client_ca"],
    ["ingress", { host: "a.example", locations: [{ path: "/a", allow: ["10.0.0.0/8"] }] }, "spec.locations[0].allow"],
    ["deployment", { image: "a", read_only: true }, "spec.read_only"],
    ["deployment", { image: "a", security_opt: ["x"] }, "spec.security_opt"],
    ["deployment", { image: "a", pids_limit: 9 }, "spec.pids_limit"],
    ["deployment", { image: "a", volume_claims: [{ name: "d", mount_path: "/d" }] }, "spec.volume_claims"],
  ])("of %s %j, a field that closes something or is of another kind is refused", (kind, spec, path) => {
    const { problems, leftOut } = readExpansion([{ kind, scope: "s", name: "x", spec }], block, limits);
    expect([problems.map((problem) => problem.path), leftOut]).toEqual([[path], []]);
  });

  test("problems name the manifest, of kinds first", () => {
    const { problems } = readExpansion([set, { kind: "redis" }, { ...set, spec: { imagee: 1 } }], block, limits);
    expect(problems).toEqual([{ path: "manifests[1].kind", message: expect.stringContaining('got "redis"') }]);
    const wrong = readExpansion(
      { manifests: [{ ...set, spec: { image: 7 } }], actions: [{ type: "x" }] },
      block,
      limits,
    );
    expect(wrong.problems.map(({ path }) => path)).toEqual(["spec.image", "actions[0].type"]);
  });
});
