import { describe, expect, test } from "bun:test";
import { limits } from "../../../../../src/config/config.ts";
import { decodeActions } from "../../../../../src/orchestration/core/plugins/actions.ts";
import { mayTouch, permissionProblems } from "../../../../../src/orchestration/core/plugins/permissions.ts";

const at = { scope: "data", name: "main" };
const decode = (value: unknown) => decodeActions(value, limits);
const one = (value: unknown) => {
  const { actions, problems } = decode([value]);
  expect(problems).toEqual([]);
  return actions[0];
};

describe("actions", () => {
  test("none", () => {
    expect(decode(null)).toEqual({ actions: [], problems: [], leftOut: [] });
    expect(decode(undefined)).toEqual({ actions: [], problems: [], leftOut: [] });
  });

  test("config: an empty value unsets, keys and kv both name what is unset", () => {
    expect(one({ type: "config_set", ...at, kv: { A: "1", B: "" } })).toMatchObject({
      vars: { A: "1", B: "" },
      restart: true,
    });
    expect(one({ type: "config_unset", ...at, keys: ["A"], kv: null })).toMatchObject({ vars: { A: "" } });
    expect(one({ type: "config_unset", ...at, kv: { A: "x" }, skip_restart: true })).toMatchObject({
      vars: { A: "" },
      restart: false,
    });
  });

  test("labels are type and reference, or what the plugin says", () => {
    const label = (value: unknown) => one(value)?.label;
    expect(label({ type: "run_job", ...at })).toBe("run_job data/main");
    expect(label({ type: "run_job", ...at, summary: "backup b001 dispatched" })).toBe("backup b001 dispatched");
    expect(label({ type: "run_job", ...at, summary: " " })).toBe("run_job data/main");
    expect(label({ type: "delete_manifest", kind: "Jobs", ...at })).toBe("delete_manifest job/data/main");
    expect(label({ type: "delete_manifest", kind: "registry", scope: "", name: "acme" })).toBe(
      "delete_manifest registry/acme",
    );
    const manifest = { kind: "deployment", ...at, spec: { image: "a" } };
    expect(label({ type: "apply_manifest", manifest })).toBe("apply_manifest deployment/data/main");
  });

  test("an object for a list, and too many, are refused as a whole", () => {
    expect(decode({}).problems).toMatchObject([{ path: "actions" }]);
    expect(decode(new Array(limits.actionsMax + 1).fill({})).problems).toMatchObject([{ path: "actions" }]);
  });

  test("every wrong one is told with its place", () => {
    const { problems } = decode([
      { type: "run_job", ...at },
      { type: "config_unset", ...at },
      { type: "fetch_file", remote_path: "/a" },
      { type: "delete_manifest", kind: "app", ...at },
      { type: "apply_manifest", manifest: { kind: "deployment", ...at, spec: { imagee: 1 } } },
    ]);
    expect(problems.map(({ path }) => path)).toEqual([
      "actions[1]",
      "actions[2].dest_path",
      "actions[3].kind",
      "actions[4].manifest.spec.imagee",
    ]);
  });
});

describe("permissions", () => {
  const { actions } = decode([
    { type: "config_set", ...at, kv: { A: "1" } },
    { type: "exec_local", command: ["ls"] },
    { type: "apply_manifest", manifest: { kind: "asset", name: "shared", spec: { files: { a: "b" } } } },
  ]);

  test("everything with a star", () => {
    const granted = {
      actions: ["config_set" as const, "exec_local" as const, "apply_manifest" as const],
      scopes: ["*"],
      docker: false,
    };
    expect(permissionProblems(actions, granted, () => undefined)).toEqual([]);
  });

  test("types and scopes, each told; what has no scope asks for none", () => {
    const granted = { actions: ["config_set" as const, "apply_manifest" as const], scopes: ["data"], docker: false };
    const problems = permissionProblems(actions, granted, () => undefined);
    expect(problems.map(({ path, message }) => `${path} ${message.split(";")[0]}`)).toEqual([
      'actions[1] the plugin was not granted "exec_local"',
      'actions[2] the plugin was not granted the scope ""',
    ]);
    expect(mayTouch({ actions: [], scopes: [], docker: false }, "data")).toBe(false);
  });
});
