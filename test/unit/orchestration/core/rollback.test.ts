import { describe, expect, test } from "bun:test";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { limits } from "../../../../src/config/config.ts";
import { rolledBackSpec } from "../../../../src/orchestration/core/rollback.ts";
import { specValidators } from "../../../../src/orchestration/core/spec-validators.ts";

const faultsOf = (spec: Spec) => specValidators.deployment(spec, limits).length;
const back = (goal: Spec, present: Spec) => rolledBackSpec(goal, present, faultsOf);
const hook = [{ url: "https://hooks.test/x" }];

describe("a rollback", () => {
  test("takes back what containers are made from", () => {
    const probes = { readiness: { tcp_socket: { port: 80 } } };
    const goal = { image: "app:1", env: { A: "1" }, probes };
    expect(back(goal, { image: "app:2", env: { A: "2" }, ports: ["80"], command: ["x"] })).toEqual(goal);
  });

  test.each([
    { replicas: 5 },
    { autoscale: { min: 3, max: 9, cpu_target: 50 } },
    { wake: true, idle_after: "5m" },
    { rollout: { strategy: "rolling" } },
    { rollout: { max_surge: 0, max_unavailable: 1 } },
    { rollout: { drain: "5s", auto_rollback: false } },
    { on_deploy: { success: hook } },
    { on_probe: { failure: hook } },
    { pull: "always" },
    { keep_releases: 2 },
  ])("keeps %j, which was accepted since", (settings) => {
    expect(back({ image: "app:1" }, { image: "app:2", ...settings })).toEqual({ image: "app:1", ...settings });
  });

  test("keeps that a setting was removed since", () => {
    const goal = { image: "app:1", replicas: 4, rollout: { strategy: "recreate", drain: "1s" }, pull: "always" };
    expect(back(goal, { image: "app:2" })).toEqual({ image: "app:1" });
  });

  test("takes back the release commands, which belong to the image", () => {
    const present = { image: "app:2", release: { command: ["migrate"] } };
    expect(back({ image: "app:1" }, present)).toEqual({ image: "app:1" });
  });

  test("takes back the times that decide whether a release is good", () => {
    const goal = { image: "app:1", rollout: { progress_deadline: "5m" } };
    const present = { image: "app:2", rollout: { progress_deadline: "1s", min_ready: "1h", strategy: "rolling" } };
    expect(back(goal, present)).toEqual({ image: "app:1", rollout: { progress_deadline: "5m", strategy: "rolling" } });
  });

  test("takes back a count that the older host port does not allow", () => {
    const goal = { image: "app:1", ports: ["8080:80"] };
    expect(back(goal, { image: "app:2", ports: ["80"], replicas: 3 })).toEqual(goal);
    expect(back({ ...goal, replicas: 1 }, { image: "app:2", replicas: 3 })).toEqual({ ...goal, replicas: 1 });
  });

  test("takes back a strategy that the older host port does not allow, and keeps the rest of the block", () => {
    const goal = { image: "app:1", ports: ["8080:80"], rollout: { strategy: "recreate" } };
    const present = { image: "app:2", rollout: { strategy: "rolling", drain: "5s" } };
    expect(back(goal, present)).toEqual({ ...goal, rollout: { strategy: "recreate", drain: "5s" } });
  });

  test("keeps the count also where the older spec breaks rules of today by itself", () => {
    const goal = { image: "app:1", health_check: "healthz" };
    expect(back(goal, { image: "app:2", replicas: 5 })).toEqual({ ...goal, replicas: 5 });
  });

  test("leaves the past release as it was", () => {
    const goal = { image: "app:1", replicas: 2 };
    back(goal, { image: "app:2", replicas: 9 });
    expect(goal.replicas).toBe(2);
  });
});
