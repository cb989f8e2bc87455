import { expect, test } from "bun:test";
import { containerOf, decodeSpec, jobOf, podOf } from "../../../../../src/orchestration/core/spec/decode.ts";

test("a frozen spec is decoded once, and anew for another kind", () => {
  const spec = Object.freeze({ image: "a" });
  const once = decodeSpec("deployment", spec);
  expect(decodeSpec("deployment", spec)).toBe(once);
  expect(decodeSpec("job", spec)).toMatchObject({ kind: "job", image: "a" });
});

test("a spec that may change is decoded anew", () => {
  const spec = { image: "a" };
  decodeSpec("deployment", spec);
  spec.image = "b";
  expect(decodeSpec("deployment", spec).image).toBe("b");
});

test("defaults are filled in: durations in milliseconds, quantities as numbers", () => {
  const { stopGraceMs, log, pull, networkMode, restart, replicas, rollout } = decodeSpec("deployment", {});
  expect({ stopGraceMs, log, pull, networkMode, replicas }).toEqual({
    ...{ stopGraceMs: 10_000, log: { maxSize: "10m", maxFiles: 3 }, pull: "missing", networkMode: "bridge" },
    replicas: 1,
  });
  expect(restart).toEqual({ name: "unless-stopped", maximumRetryCount: 0 });
  expect(rollout).toMatchObject({ maxSurge: 1, maxUnavailable: 0, minReadyMs: 2_000, drainMs: 30_000 });
  expect(decodeSpec("statefulset", {}).rollout.drainMs).toBe(0);
  const limits = { cpu: "500m", memory: "1Gi" };
  expect(decodeSpec("job", { resources: { limits } }).limits).toEqual({
    ...{ cpu: "500m", nanoCpus: 500_000_000, memory: "1Gi", memoryBytes: 1_073_741_824 },
  });
});

test("entries keep their text, and say what is wrong with those that cannot be read", () => {
  const { ports } = decodeSpec("deployment", { ports: ["80", 7, "eighty"] });
  expect(ports.map(({ text, read }) => [text, read.ok])).toEqual([
    ["80", true],
    ["eighty", false],
  ]);
});

test("the container of a cron job is that of the job inside", () => {
  const spec = { schedule: "@daily", job: { image: "a" } };
  expect(containerOf("cronjob", spec)).toMatchObject({ container: { image: "a" }, path: "spec.job" });
  expect(containerOf("job", spec.job)).toMatchObject({ container: { image: "a" }, path: "spec" });
  expect(containerOf("ingress", {})).toBeUndefined();
  expect(podOf({ kind: "cronjob", spec })).toBeUndefined();
  expect(jobOf({ kind: "cronjob", spec })).toMatchObject({ expression: "@daily", timezone: "UTC", policy: "Allow" });
});
