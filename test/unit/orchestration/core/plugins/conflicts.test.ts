import { describe, expect, test } from "bun:test";
import type { PluginPermissions } from "../../../../../src/orchestration/api/plugins/plugin-yml.ts";
import { together, widened } from "../../../../../src/orchestration/core/plugins/conflicts.ts";

const none: PluginPermissions = { actions: [], scopes: [], docker: false, root: false };
const some: PluginPermissions = { actions: ["run_job"], scopes: ["data"], docker: false, root: false };
const other: PluginPermissions = { actions: ["run_job", "exec_local"], scopes: ["web"], docker: true, root: false };

describe("what two grants allow together", () => {
  test("is what either allows, each thing once", () => {
    expect(together(some, other)).toEqual({
      actions: ["run_job", "exec_local"],
      scopes: ["data", "web"],
      docker: true,
      root: false,
    });
    expect(together(none, none)).toEqual(none);
  });

  test("leaves nothing more to ask for, for any of the two", () => {
    for (const wanted of [none, some, other]) {
      expect(widened(together(some, other), wanted)).toEqual([]);
      expect(widened(together({ ...none, scopes: ["*"] }, other), { ...wanted, scopes: ["any"] })).toEqual([]);
    }
    expect(widened(some, other)).toEqual(["exec_local", "scope web", "docker"]);
  });

  test("has the variables of the server of both, and each name is granted by itself", () => {
    expect([widened(none, { ...none, backup: true }), widened({ ...none, backup: true }, none)]).toEqual([
      ["backup"],
      [],
    ]);
    expect(together(none, { ...none, backup: true }).backup).toBe(true);
    const one = { ...none, server_env: ["A", "B"] };
    const two = { ...none, server_env: ["B", "C"] };
    expect(widened(one, two)).toEqual(["C of the server's environment"]);
    expect(widened(none, one)).toEqual(["A of the server's environment", "B of the server's environment"]);
    expect(widened(one, none)).toEqual([]);
    expect(together(one, two).server_env).toEqual(["A", "B", "C"]);
    expect(together(none, some).server_env).toBeUndefined();
  });

  test("is root where one of them is: a grant of before there was root does not say it, and is", () => {
    const { root: _, ...before } = some;
    expect(widened(some, before)).toEqual(["root"]);
    expect(widened(before, { ...some, root: true })).toEqual([]);
    expect(widened(some, { ...some, root: true })).toEqual(["root"]);
    expect(widened(before, some)).toEqual([]);
    expect(together(before, some).root).toBe(true);
  });
});
