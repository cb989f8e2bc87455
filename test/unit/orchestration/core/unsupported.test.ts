import { expect, test } from "bun:test";
import { notActedUpon } from "../../../../src/orchestration/core/unsupported.ts";

test("kinds are in force as a whole", () => {
  expect(notActedUpon("ingress", {})).toEqual([]);
  expect(notActedUpon("job", {})).toEqual([]);
  expect(notActedUpon("cronjob", {})).toEqual([]);
  expect(notActedUpon("asset", { files: {} })).toEqual([]);
  expect(notActedUpon("registry", {})).toEqual([]);
});

test("fields that are only stored are named, empty ones not", () => {
  const spec = { image: "a", env_file: ["x"], post_deploy: [], keep_releases: 3 };
  expect(notActedUpon("deployment", spec).map((text) => text.split(":")[0])).toEqual(["keep_releases", "env_file"]);
  expect(notActedUpon("statefulset", { build_args: { A: "1" } })).toHaveLength(1);
  expect(notActedUpon("deployment", { image: "a", replicas: 2 })).toEqual([]);
});

test("webhooks are sent; a recovery that could never be told says so", () => {
  const hook = { url: "https://a.test/" };
  expect(notActedUpon("deployment", { on_deploy: { success: [hook] }, on_probe: { failure: [hook] } })).toEqual([]);
  expect(notActedUpon("deployment", { on_probe: { failure: [hook], recovery: [hook] } })).toEqual([]);
  expect(notActedUpon("statefulset", { on_probe: { recovery: [hook] } })).toHaveLength(1);
});
