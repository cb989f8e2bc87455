import { describe, expect, test } from "bun:test";
import { MASK } from "../../../../../src/orchestration/core/mask.ts";
import {
  configProblems,
  grantedVariables,
  hiding,
  variableFault,
} from "../../../../../src/orchestration/core/plugins/own-environment.ts";

describe("a variable for a plugin", () => {
  test.each([
    "TOKEN",
    "token",
    "_X1",
    "https_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "PATHS",
    "LDAP_URL",
    "AWS_SECRET_ACCESS_KEY",
  ])("can be %s", (name) => {
    expect(variableFault(name, "BERTH")).toBeUndefined();
  });

  test.each([
    ["", "not a valid name"],
    ["1A", "not a valid name"],
    ["A-B", "not a valid name"],
    ["A B", "not a valid name"],
    ["A".repeat(129), "at most 128"],
    ["BERTH_SMTP_URL", "of the server itself"],
    ["berth_root", "of the server itself"],
    ["OTHER_ROOT", "of the server itself"],
    ["PATH", "set by the server"],
    ["HOME", "set by the server"],
    ["TMPDIR", "set by the server"],
    ["DOCKER_HOST", "set by the server"],
    ["no_proxy", "set by the server"],
    ["LD_PRELOAD", "steers"],
    ["LD_LIBRARY_PATH", "steers"],
    ["NODE_OPTIONS", "steers"],
    ["BUN_OPTIONS", "steers"],
    ["BASH_ENV", "steers"],
    ["PYTHONSTARTUP", "steers"],
    ["PERL5OPT", "steers"],
    ["GIT_SSH_COMMAND", "steers"],
    ["JAVA_TOOL_OPTIONS", "steers"],
  ])("cannot be %j", (name, why) => {
    expect(variableFault(name, "OTHER")).toContain(why);
  });
});

test("of the granted variables of the server those are left out that no plugin gets", () => {
  const server_env = ["OTHER_SMTP_URL", "S3_KEY", "BERTH_TOKEN", "LD_PRELOAD", "https_proxy"];
  expect(grantedVariables({ server_env }, "OTHER")).toEqual(["S3_KEY", "https_proxy"]);
  expect(grantedVariables({}, "OTHER")).toEqual([]);
});

describe("a change of the config", () => {
  const limits = { keysMax: 2, valueBytesMax: 20, allBytesMax: 40 };
  const problems = (change: Record<string, string>, before: Record<string, string> = {}) =>
    configProblems(before, change, { envPrefix: "BERTH", limits }).map(({ path, message }) => `${path} ${message}`);

  test("names each fault with its path", () => {
    expect(problems({ PATH: "/x", OK: "fine" })).toEqual([
      "vars.PATH is set by the server for every plugin; use another name",
    ]);
    expect(problems({ A: MASK, B: "a\0b" })).toEqual([
      "vars.A is masked; write the value",
      "vars.B has a NUL character, which no environment can hold",
    ]);
    expect(problems({ A: "é".repeat(11) })).toEqual(["vars.A has 22 bytes; a value has at most 20"]);
  });

  test("is bounded together with what is set already, and can always unset", () => {
    expect(problems({ C: "1" }, { A: "1", B: "1" })).toEqual(["vars would be 3 keys; a plugin has at most 2"]);
    expect(problems({ C: "1", A: "" }, { A: "1", B: "1" })).toEqual([]);
    expect(problems({ B: "x".repeat(20) }, { A: "x".repeat(20) })).toEqual([
      "vars would be 42 bytes; a plugin has at most 40",
    ]);
    expect(problems({ PATH: "", "no name": "" })).toEqual([]);
  });
});

describe("hiding values", () => {
  test("replaces each, the longest first, and leaves short ones", () => {
    const hide = hiding(["secret", "secret-long", "on"], 6);
    expect(hide("secret-long and secret, on")).toBe(`${MASK} and ${MASK}, on`);
  });

  test("replaces lines of a value, as output comes line by line", () => {
    const hide = hiding(["-----BEGIN KEY-----\nabcdefghij\n-----END KEY-----\n"], 6);
    expect(hide("read abcdefghij")).toBe(`read ${MASK}`);
  });

  test("takes no value for a pattern", () => {
    expect(hiding(["a.*b$&c"], 6)("a.*b$&c axxb")).toBe(`${MASK} axxb`);
  });
});
