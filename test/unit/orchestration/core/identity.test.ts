import { describe, expect, test } from "bun:test";
import type { WritableKind } from "../../../../src/orchestration/api/kinds/schemas.ts";
import { identityProblems, podNameOk } from "../../../../src/orchestration/core/identity.ts";
import { claimVolumeName, containerName, naming } from "../../../../src/orchestration/core/naming.ts";
import { limits } from "../../../../src/config/config.ts";

const paths = (kind: WritableKind, scope: string, name: string) =>
  identityProblems(kind, scope, name).map(({ path }) => path);

describe("names", () => {
  test.each(["web", "a", "web-2", "web_2", "api.v2", "0", "x".repeat(63)])("%s is accepted", (name) => {
    expect(paths("deployment", "shop", name)).toEqual([]);
  });
  test.each([
    ...["", "..", "a..b", "../etc", "a/b", "Web", "wEb", "-web", "web-", ".web", "web.", "_web", "we b", "wéb"],
    ...["web\n", "\nweb", "web\0", "x".repeat(64), "__proto__"],
  ])("%j is refused and named", (name) => {
    const problems = identityProblems("deployment", "shop", name);
    expect(problems.map(({ path }) => path)).toEqual(["name"]);
    if (name !== "") expect(problems[0]?.message).toContain(`"${name}"`);
  });
  test("an over-long name is shown clipped", () => {
    const [problem] = identityProblems("deployment", "shop", "x".repeat(10_000));
    expect(problem?.message.length).toBeLessThan(400);
  });
  test("an asset's name has no dot, since references separate with dots", () => {
    expect(paths("asset", "shop", "conf.d")).toEqual(["name"]);
    expect(paths("asset", "shop", "conf-d")).toEqual([]);
  });
});

describe("scopes", () => {
  test.each(["shop", "a", "a-b", "0", "x".repeat(40)])("%s is accepted", (scope) => {
    expect(paths("deployment", scope, "web")).toEqual([]);
  });
  test.each(["..", "a/b", "Shop", "-a", "a-", "a.b", "a_b", "x".repeat(41)])("%j is refused", (scope) => {
    expect(paths("deployment", scope, "web")).toEqual(["scope"]);
  });
  test.each(["deployment", "statefulset", "ingress", "job", "cronjob", "app"] as const)("%s needs one", (kind) => {
    expect(paths(kind, "", "web")).toEqual(["scope"]);
  });
  test("an asset may have one, a registry may not", () => {
    expect(paths("asset", "", "conf")).toEqual([]);
    expect(paths("asset", "shop", "conf")).toEqual([]);
    expect(paths("registry", "", "acme")).toEqual([]);
    expect(paths("registry", "shop", "acme")).toEqual(["scope"]);
  });
  test("scope and name are both told", () => {
    expect(paths("job", "A", "B")).toEqual(["scope", "name"]);
  });
});

test("the longest names that are accepted stay below the longest container name", () => {
  const scope = "s".repeat(40);
  const name = "n".repeat(63);
  expect(containerName(scope, name, "abcde").length).toBeLessThanOrEqual(limits.containerNameMax);
  const volume = claimVolumeName(naming("p".repeat(20)), { scope, name }, "c".repeat(40), limits.replicasMax);
  expect(volume.length).toBeLessThanOrEqual(limits.containerNameMax);
});

test("pod names are what the engine accepts as a container name", () => {
  for (const name of ["shop-web.k3x7a", "A_b.0", "x".repeat(255)]) expect(podNameOk(name)).toBe(true);
  for (const name of ["", ".web", "a/b", "a b", "a\n", "../x", "-a", "x".repeat(256)])
    expect(podNameOk(name)).toBe(false);
});
