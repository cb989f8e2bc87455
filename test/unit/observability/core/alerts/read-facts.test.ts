import { describe, expect, test } from "bun:test";
import { appFactOf, runFactsOf } from "../../../../../src/observability/core/alerts/read-facts.ts";
import type { ListedManifest } from "../../../../../src/orchestration/api/apply.ts";
import type { JobRun } from "../../../../../src/orchestration/api/jobs.ts";
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

describe("runs of a cron job", () => {
  const job = { kind: "cronjob", scope: "shop", name: "report" };
  const at = (minute: number) => new Date(minute * 60_000).toISOString();
  const run = (status: JobRun["status"], instant: number | undefined, endedAt: number): JobRun =>
    ({
      ...{ ...job, run_id: String(instant), status, ended_at: at(endedAt) },
      ...(instant === undefined ? {} : { instant: at(instant) }),
      ...(status === "missed" ? {} : { started_at: at(instant ?? endedAt) }),
    }) as JobRun;
  const statuses = (...runs: JobRun[]) =>
    runFactsOf(runs, [{ ...job, spec: {} } as ListedManifest]).map(({ status }) => status);

  test("what a start has missed counts, although the newest of the backlog ran then", () => {
    const backlog = [run("missed", 20, 60), run("missed", 0, 60)];
    expect(statuses(run("succeeded", 40, 61), ...backlog)).toEqual(["succeeded", "missed"]);
  });

  test("until a later instant is decided, or somebody has run it", () => {
    const backlog = [run("succeeded", 40, 61), run("missed", 20, 60), run("missed", 0, 60)];
    expect(statuses(run("succeeded", 80, 81), ...backlog)).toEqual(["succeeded"]);
    expect(statuses(run("failed", 80, 81), ...backlog)).toEqual(["failed"]);
    expect(statuses(run("succeeded", undefined, 70), ...backlog)).toEqual(["succeeded"]);
    expect(statuses(run("running", 80, 81), ...backlog)).toEqual(["succeeded", "missed"]);
  });

  test("a run that was missed alone counts with the one before", () => {
    expect(statuses(run("missed", 80, 90), run("failed", 40, 41))).toEqual(["failed", "missed"]);
    expect(statuses(run("missed", 80, 90))).toEqual(["missed"]);
  });
});
