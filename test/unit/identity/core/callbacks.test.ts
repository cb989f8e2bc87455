import { expect, test } from "bun:test";
import { callbackPath } from "../../../../src/identity/core/callbacks.ts";

test("the providers of the contract share a path; a connection has its own", () => {
  expect(callbackPath({ kind: "github", name: "github", instanceId: "inst_a" })).toBe("/oauth/github/callback");
  const acme = (instanceId?: string) => callbackPath({ kind: "oidc", name: "acme", instanceId });
  expect(acme("inst_a")).toBe("/oauth/oidc/inst_a.acme/callback");
  expect(acme("inst_b")).not.toBe(acme("inst_a"));
  expect(acme()).toBe("/oauth/oidc/global.acme/callback");
});
