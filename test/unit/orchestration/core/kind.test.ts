import { expect, test } from "bun:test";
import { coreKinds } from "../../../../src/orchestration/api/manifest.ts";
import { kindList, parseKind } from "../../../../src/orchestration/core/kind.ts";

test.each([
  ["deployment", "deployment"],
  ["Deployments", "deployment"],
  ["STATEFULSET", "statefulset"],
  ["ingresses", "ingress"],
  ["registries", "registry"],
  ["cronjobs", "cronjob"],
  [" asset ", "asset"],
  ["apps", "app"],
] as const)("%s is %s", (text, kind) => {
  expect(parseKind(text)).toBe(kind);
});

test.each(["", "deploy", "ingresss", "registrys", "constructor", "postgres"])("%s is no kind", (text) => {
  expect(parseKind(text)).toBeUndefined();
});

test("the list starts with the core kinds in their order", () => {
  expect(kindList()).toBe([...coreKinds, "app"].join(", "));
});
