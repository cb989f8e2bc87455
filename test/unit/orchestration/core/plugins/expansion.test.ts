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
      expect(readExpansion(data, block, limits)).toEqual({ manifests: [], actions: [], problems: [] });
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
