import { describe, expect, test } from "bun:test";
import { fateOf, groupFate, type MemberSight } from "../../../../src/orchestration/core/atomic.ts";

const sight: MemberSight = {
  action: "updated",
  runs: true,
  appliedRevision: 7,
  storedRevision: 7,
  release: undefined,
  rolledBack: false,
  status: { phase: "progressing", observedRevision: 7, isNewest: true, reason: "not ready" },
};
const release = (status: "pending" | "running" | "succeeded" | "failed", error?: string) => ({ status, error });
const phase = (name: string, observedRevision = 7) => ({
  phase: name,
  observedRevision,
  isNewest: observedRevision === 7,
  reason: "out of memory",
});

describe("a resource of an atomic apply", () => {
  test.each<[string, Partial<MemberSight>, string]>([
    ["whose release runs waits", { release: release("running") }, "waiting"],
    ["whose release commands run waits", { release: release("pending") }, "waiting"],
    [
      "that is given up has failed, although its release runs",
      { release: release("running"), status: phase("failed") },
      "failed",
    ],
    [
      "whose release runs waits, whatever was said before it",
      { release: release("running"), status: phase("failed", 6) },
      "waiting",
    ],
    ["whose release succeeded is well, whatever its status says yet", { release: release("succeeded") }, "well"],
    ["whose release failed has failed", { release: release("failed", "CrashLoop") }, "failed"],
    [
      "that was rolled back has failed, although something else is stored",
      { release: release("failed", "CrashLoop"), storedRevision: 9, rolledBack: true },
      "failed",
    ],
    [
      "whose release gave way to a later one is somebody else's",
      { release: { ...release("failed", "x"), reasons: ["Superseded"] }, storedRevision: 9 },
      "left",
    ],
    ["that was written again is somebody else's", { release: release("succeeded"), storedRevision: 9 }, "left"],
    ["that was deleted is somebody else's", { storedRevision: undefined }, "left"],
    ["without a release waits for its status", { status: phase("ready", 6) }, "waiting"],
    ["without a status waits", { status: undefined }, "waiting"],
    ["without a release is well once it is ready", { status: phase("ready") }, "well"],
    ["without a release waits while it is failing", { status: phase("failing") }, "waiting"],
    ["without a release has failed at its deadline", { status: phase("failed") }, "failed"],
    ["that runs nothing is well at once", { runs: false, status: undefined }, "well"],
    ["that was deleted by the apply is well", { action: "deleted", storedRevision: undefined }, "well"],
    ["that was deleted by the apply and is there again is somebody else's", { action: "deleted" }, "left"],
  ])("%s", (_, change, fate) => {
    expect(fateOf({ ...sight, ...change }).is).toBe(fate as never);
  });
});

test("one that failed takes all back, one that waits keeps all waiting, and what is somebody else's decides nothing", () => {
  const members = (...fates: ("waiting" | "well" | "left" | "failed")[]) =>
    groupFate(fates.map((is, index) => ({ ref: `r${index}`, fate: { is, why: "why" } as never })));
  expect(members("waiting", "failed")).toEqual({ is: "failed", ref: "r1", why: "r1: why" });
  expect(members("well", "waiting", "left")).toEqual({ is: "waiting" });
  expect(members("well", "left")).toEqual({ is: "kept" });
  expect(members()).toEqual({ is: "kept" });
});
