import { describe, expect, test } from "bun:test";
import { flagOf, withFlags } from "../../../../src/local/server/systemd.ts";

describe("withFlags", () => {
  const words = ["--root", "/opt/berth", "--addr", "", "--addr-insecure", "--prefix", "demo"];

  test("keeps what was not given", () => {
    expect(withFlags(words, {})).toEqual(words);
  });

  test("replaces a value, an empty one too, and a flag without a value", () => {
    expect(withFlags(words, { addr: ":1", "addr-insecure": true })).toEqual([
      ...["--root", "/opt/berth", "--prefix", "demo"],
      ...["--addr", ":1", "--addr-insecure"],
    ]);
  });

  test("adds what was not there", () => {
    expect(withFlags([], { root: "/srv" })).toEqual(["--root", "/srv"]);
  });
});

test("flagOf finds the value of a flag", () => {
  expect(flagOf(["--root", "/opt/berth"], "root")).toBe("/opt/berth");
  expect(flagOf(["--root", "/opt/berth"], "addr")).toBeUndefined();
});
