import { expect, test } from "bun:test";
import { notActedUpon } from "../../../../src/orchestration/core/unsupported.ts";

test("kinds are in force as a whole", () => {
  expect(notActedUpon("ingress", {})).toEqual([]);
  expect(notActedUpon("job", {})).toEqual([]);
  expect(notActedUpon("cronjob", {})).toEqual([]);
  expect(notActedUpon("asset", { files: {} })).toEqual([]);
  expect(notActedUpon("registry", {})).toEqual([]);
});

test("an ingress whose certificates would be issued on demand says that they are not", () => {
  const texts = (spec: Record<string, unknown>) => notActedUpon("ingress", spec).join("\n");
  expect(texts({ tls: { on_demand: true } })).toContain(
    "tls.on_demand: stored; certificates are not issued on demand yet",
  );
  expect(texts({ tls: { on_demand: false } })).not.toContain("tls.on_demand");
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
