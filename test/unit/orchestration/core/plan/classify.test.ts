import { describe, expect, test } from "bun:test";
import { classify, isCurrent, isReady, type PodClass } from "../../../../../src/orchestration/core/plan/classify.ts";
import type { PlannedPod } from "../../../../../src/orchestration/core/plan/pod.ts";
import { exited, old, oldExited, oldStarting, pod, starting, workload } from "./fixtures.ts";

function classOf(change: Partial<PlannedPod>, restart: "no" | "always" | "unless-stopped" | "on-failure" = "always") {
  return classify(pod("a", change), workload({ restart }), new Set());
}

describe("classify", () => {
  const cases: [string, Partial<PlannedPod>, PodClass][] = [
    ["a serving replica", {}, "ready"],
    ["a newer generation than wanted", { generation: 3 }, "ready"],
    ["running, not ready", starting, "starting"],
    ["restarting, whatever the probe said last", { state: "restarting", ready: true }, "starting"],
    ["created and never started", { state: "created", ready: false }, "down"],
    ["killed", exited, "down"],
    ["ended well", { ...exited, exitCode: 0 }, "down"],
    ["dead", { state: "dead", ready: false }, "broken"],
    ["another spec", old, "outdated-ready"],
    ["an older generation", { generation: 1 }, "outdated-ready"],
    ["another spec, not ready", oldStarting, "outdated-starting"],
    ["another spec, restarting", { ...old, state: "restarting" }, "outdated-starting"],
    ["another spec, exited", oldExited, "outdated-down"],
    ["another spec, never started", { ...old, state: "created", ready: false }, "outdated-down"],
    ["another spec, dead", { ...old, state: "dead", ready: false }, "outdated-down"],
    ["paused", { state: "paused" }, "untouchable"],
    ["another spec, paused", { ...old, state: "paused" }, "untouchable"],
    ["unknown", { state: "unknown" }, "untouchable"],
    ["being removed", { state: "removing" }, "leaving"],
    ["frozen", { ...exited, frozen: true }, "frozen"],
    ["frozen and outdated", { ...oldExited, frozen: true }, "frozen"],
    ["frozen and being removed", { frozen: true, state: "removing" }, "leaving"],
    ["an init container", { role: "init" }, "foreign"],
    ["an init container of a frozen replica", { role: "init", frozen: true }, "foreign"],
  ];
  test.each(cases)("%s", (_, change, wanted) => {
    expect(classOf(change)).toBe(wanted);
  });

  test("is frozen by its mark alone", () => {
    expect(classify(pod("a", exited), workload(), new Set(["a"]))).toBe("frozen");
    expect(classify(pod("a", exited), workload(), new Set(["b"]))).toBe("down");
  });
});

describe("restart policy", () => {
  test("no: stays ended, whatever the exit code", () => {
    expect(classOf({ ...exited, exitCode: 1 }, "no")).toBe("ended");
    expect(classOf({ ...exited, exitCode: 0 }, "no")).toBe("ended");
  });

  test("on-failure: only a failure starts again", () => {
    expect(classOf({ ...exited, exitCode: 1 }, "on-failure")).toBe("down");
    expect(classOf({ ...exited, exitCode: undefined }, "on-failure")).toBe("down");
    expect(classOf({ ...exited, exitCode: 0 }, "on-failure")).toBe("ended");
  });

  test("on-failure with a retry count: ends when it is used up", () => {
    const limited = { ...workload(), restart: { name: "on-failure" as const, maximumRetryCount: 3 } };
    const after = (restarts: number) => classify(pod("a", { ...exited, restarts }), limited, new Set());
    expect([after(2), after(3)]).toEqual(["down", "ended"]);
  });

  test("a container that was never started has not ended", () => {
    expect(classOf({ state: "created", ready: false }, "no")).toBe("down");
  });
});

test("current: the same spec and at least the wanted generation", () => {
  expect(isCurrent(pod("a"), workload())).toBe(true);
  expect(isCurrent(pod("a", { generation: 1 }), workload())).toBe(false);
  expect(isCurrent(pod("a", { hash: "old", generation: 9 }), workload())).toBe(false);
});

test("ready: only while it runs", () => {
  expect(isReady(pod("a"))).toBe(true);
  expect(isReady(pod("a", { state: "exited" }))).toBe(false);
});
