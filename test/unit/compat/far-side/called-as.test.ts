import { expect, test } from "bun:test";
import { calledAs, isForwarded } from "../../../../src/compat/far-side/called-as.ts";

const called = (argv0: string, variables: Record<string, string> = {}, installed?: string) =>
  calledAs({ argv0, variables, installed: async () => installed });

test.each([
  ["/usr/local/bin/yard", {}, "yard"],
  ["yard", { BERTH_PREFIX: "yard" }, "berth"],
  ["yard", { YARD_ARGV_REWRITTEN: "1" }, undefined],
  ["./my-yard", { MY_YARD_PROTOCOL: "ndjson/1" }, undefined],
])("%s with %j, where %p is installed, is that client", async (argv0, variables, installed) => {
  expect(await called(argv0, variables as never, installed)).toBe(argv0.replace(/.*\//, ""));
});

test.each([
  ["berth", {}, "berth"],
  ["/opt/berth", { BERTH_ARGV_REWRITTEN: "1" }, "berth"],
  ["berth.new", {}, "berth.new"],
  ["b", {}, "yard"],
  ["yard", { YARD_PROTOCOL: "" }, undefined],
  ["yard", { BERTH_PREFIX: "other" }, "yard"],
  ["bun", {}, undefined],
])("%s with %j, where %p is installed, is berth", async (argv0, variables, installed) => {
  expect(await called(argv0, variables as never, installed)).toBeUndefined();
});

test("only that client's own variables say that it has asked", () => {
  expect(isForwarded("my-yard", { MY_YARD_ARGV_REWRITTEN: "1" })).toBe(true);
  expect(isForwarded("yard", { MY_YARD_ARGV_REWRITTEN: "1", YARD_ROOT: "/" })).toBe(false);
});
