import { describe, expect, test } from "bun:test";
import { withHost, withoutHost } from "../../../../src/client/domains/hosts.ts";

describe("withHost", () => {
  test.each([
    [{ port: 1 }, { port: 1, host: "n" }],
    [{ host: "a" }, { host: "a", hosts: ["n"] }],
    [{ hosts: ["a", "b"] }, { hosts: ["a", "b", "n"] }],
    [
      { host: "a", hosts: ["b"], tls: {} },
      { host: "a", hosts: ["b", "n"], tls: {} },
    ],
    [{ host: "N" }, undefined],
  ])("%j becomes %j", (spec, result) => {
    expect(withHost(spec, "n")).toEqual(result as never);
  });
});

describe("withoutHost", () => {
  test.each([
    [{ host: "a", hosts: ["n"] }, { host: "a" }],
    [
      { host: "n", hosts: ["a", "b"] },
      { host: "a", hosts: ["b"] },
    ],
    [{ hosts: ["a", "N", "b"] }, { hosts: ["a", "b"] }],
    [{ hosts: ["a", "n"] }, { host: "a" }],
    [{ host: "a" }, undefined],
  ])("%j becomes %j", (spec, result) => {
    expect(withoutHost(spec, "n")).toEqual(result as never);
  });
});
