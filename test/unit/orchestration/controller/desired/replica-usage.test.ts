import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Context } from "../../../../../src/orchestration/controller/state/context.ts";
import type { Pod } from "../../../../../src/orchestration/controller/state/pod.ts";
import { replicaUsage } from "../../../../../src/orchestration/controller/desired/replica-usage.ts";
import type { UsageSnapshot } from "../../../../../src/orchestration/controller/state/usage-sampler.ts";
import { limits } from "../../../../../src/config/config.ts";
import type { CanaryRecord, Store } from "../../../../../src/orchestration/store/store.ts";
import { keyOf } from "../../../../support/world.ts";

const key = keyOf("deployment", "shop", "web");
const minuteMs = 60_000;
let cpu: string | undefined;
let snapshot: UsageSnapshot | undefined;
let pods: Partial<Pod>[];
let canary: Partial<CanaryRecord> | undefined;

beforeEach(() => {
  cpu = "500m";
  canary = undefined;
  pods = [pod("a"), pod("b")];
  snapshot = { at: 10 * minuteMs, pods: new Map([usage("a", 30), usage("b", 60), usage("stranger", 99)]) };
});
afterEach(() => (snapshot = undefined));

const pod = (id: string, change: Partial<Pod> = {}): Partial<Pod> => ({
  id,
  key,
  state: "running",
  changedAt: 0,
  ...change,
});

function usage(
  id: string,
  cpuPercent: number,
): [string, UsageSnapshot["pods"] extends ReadonlyMap<string, infer V> ? V : never] {
  const rest = { name: id, labels: {}, cpuNanos: 0, memoryBytes: 0, memoryLimitBytes: 0, pids: 0 };
  return [id, { id, cpuPercent, ...rest } as never];
}

/** The rooms that it asks, and no others. */
function look() {
  const spec = cpu === undefined ? {} : { resources: { limits: { cpu } } };
  const context: Partial<Context> = {
    usage: {
      enabled: true,
      latest: () => snapshot,
      live: () => Promise.reject(new Error("not asked")),
      run: async () => undefined,
    },
    clock: { now: () => 11 * minuteMs, steady: () => 11 * minuteMs, sleep: async () => undefined },
    limits,
    store: {
      manifests: { get: () => ({ kind: "deployment", spec }) },
      canaries: { get: () => canary },
    } as unknown as Store,
    leaving: { add: () => undefined, remove: () => undefined, has: () => false },
    pods: { of: () => pods } as unknown as Context["pods"],
    ports: { mayServe: () => true } as unknown as Context["ports"],
    probes: {
      readiness: ({ id }: Pod) => ({ ready: id === "a", startup_passed: true }),
    } as unknown as Context["probes"],
  };
  return replicaUsage(context as Context, key);
}

describe("what the autoscaler sees", () => {
  test("is one row a running replica, with the limit in cores and whether it is ready", () => {
    expect(look()).toEqual([
      { cpuPercent: 30, cpuLimit: 0.5, ready: true },
      { cpuPercent: 60, cpuLimit: 0.5, ready: false },
    ]);
  });

  test("has no limit where the spec has none", () => {
    cpu = undefined;
    expect(look()[0]?.cpuLimit).toBeUndefined();
  });

  test("counts old replicas that a release keeps aside as not ready", () => {
    canary = { mode: "kept", hash: "new", baseHash: "old", generation: 1 };
    pods = [pod("a", { hash: "old", generation: 1 }), pod("b", { hash: "new", generation: 1 })];
    expect(look()[0]).toMatchObject({ cpuPercent: 30, ready: false });
  });

  test("leaves out what is no replica, does not run, or was not read yet", () => {
    pods = [pod("a", { role: "init" }), pod("b", { state: "exited" }), pod("new")];
    expect(look()).toEqual([]);
  });

  test("is nothing while the collector is off, or blind for minutes", () => {
    snapshot = { at: 7 * minuteMs, pods: new Map([usage("a", 30)]) };
    expect(look()).toEqual([]);
    snapshot = undefined;
    expect(look()).toEqual([]);
  });
});
