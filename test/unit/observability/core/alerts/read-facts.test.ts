import { describe, expect, test } from "bun:test";
import { appFactOf } from "../../../../../src/observability/core/alerts/read-facts.ts";
import type { ListedManifest } from "../../../../../src/orchestration/api/apply.ts";
import type { Release } from "../../../../../src/orchestration/api/releases.ts";

const listed = (ready: number, reason: string): ListedManifest => ({
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: {},
  status: {
    phase: "failed",
    replicas: 1,
    ready_replicas: ready,
    conditions: [{ type: "Degraded", status: true, reason, message: "CrashLoop: it restarted 8 times" }],
  },
});
const release = (more: Partial<Release>): Release => ({ status: "failed", ...more }) as Release;

describe("an app whose release failed", () => {
  test.each<[string, number, Partial<Release>, string]>([
    ["by a crash loop keeps crashing", 0, { reasons: ["CrashLoop"] }, "CrashLoop"],
    ["by a crash loop, and is ready by now, does not", 1, { reasons: ["CrashLoop"] }, "ReleaseFailed"],
    ["for another reason does not", 0, { reasons: ["ProgressDeadline"] as never }, "ReleaseFailed"],
    ["without a reason does not", 0, {}, "ReleaseFailed"],
    ["and was taken back does not", 0, { status: "running", reasons: ["CrashLoop"] }, "ReleaseFailed"],
  ])("%s", (_, ready, last, reason) => {
    expect(appFactOf(listed(ready, "ReleaseFailed"), [release(last)])?.reason).toBe(reason);
  });

  test("other reasons stay", () => {
    expect(appFactOf(listed(0, "ImageMissing"), [release({ reasons: ["CrashLoop"] })])?.reason).toBe("ImageMissing");
  });
});
