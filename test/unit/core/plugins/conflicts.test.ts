import { describe, expect, test } from "bun:test";
import type { PluginPermissions } from "../../../../src/api/plugins/plugin-yml.ts";
import { together, widened } from "../../../../src/core/plugins/conflicts.ts";

const none: PluginPermissions = { actions: [], scopes: [], docker: false };
const some: PluginPermissions = { actions: ["run_job"], scopes: ["data"], docker: false };
const other: PluginPermissions = { actions: ["run_job", "exec_local"], scopes: ["web"], docker: true };

describe("what two grants allow together", () => {
  test("is what either allows, each thing once", () => {
    expect(together(some, other)).toEqual({
      actions: ["run_job", "exec_local"],
      scopes: ["data", "web"],
      docker: true,
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
});
