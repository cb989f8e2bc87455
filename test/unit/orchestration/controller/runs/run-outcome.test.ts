import { describe, expect, test } from "bun:test";
import type { OneOffResult } from "../../../../../src/orchestration/controller/state/one-off.ts";
import { afterFailure, afterTry } from "../../../../../src/orchestration/controller/runs/run-outcome.ts";
import { shortTail } from "../../../../../src/orchestration/controller/runs/run-record.ts";
import type { RunRecord } from "../../../../../src/orchestration/store/store.ts";

const run: RunRecord = {
  kind: "job",
  scope: "shop",
  name: "report",
  id: "abcde",
  status: "running",
  trigger: "manual",
  instant: undefined,
  attempt: 1,
  startedAt: 1_000,
  endedAt: undefined,
  exitCode: undefined,
  error: "try 1 of 2: exit code 9",
  tail: [],
};

const result = (change: Partial<OneOffResult>): OneOffResult => ({
  end: "exited",
  exitCode: 0,
  oomKilled: false,
  error: "",
  startedAt: 1_000,
  endedAt: 2_000,
  tail: ["last"],
  ...change,
});

const rules = { retries: 0, timeoutMs: 90_000, cancelled: "cancelled by ana" };

describe("the record after a try", () => {
  test.each<[string, Partial<OneOffResult>, Partial<RunRecord>]>([
    ["went well", {}, { status: "succeeded", exitCode: 0, error: undefined }],
    ["failed", { exitCode: 3 }, { status: "failed", exitCode: 3, error: "exit code 3" }],
    ["no memory", { exitCode: 137, oomKilled: true }, { status: "failed", error: "exit code 137, out of memory" }],
    ["engine words", { exitCode: 128, error: "no tty" }, { status: "failed", error: "exit code 128: no tty" }],
    ["took too long", { end: "timed_out", exitCode: 143 }, { status: "timed_out", exitCode: 143 }],
    ["was cancelled", { end: "cancelled", exitCode: 143 }, { status: "cancelled", error: "cancelled by ana" }],
  ])("%s", (_, change, expected) => {
    expect(afterTry(run, result(change), rules)).toMatchObject({ ...expected, endedAt: 2_000, tail: ["last"] });
  });

  test("a first try that was over before the server noted its start has the engine's times", () => {
    const late = { ...run, startedAt: 2_500 };
    expect(afterTry(late, result({}), rules)).toMatchObject({ startedAt: 1_000, endedAt: 2_000 });
    expect(afterTry({ ...run, attempt: 2, startedAt: 500 }, result({}), rules)).toMatchObject({ startedAt: 500 });
  });

  test("a time-out names its limit and is not tried again", () => {
    const after = afterTry(run, result({ end: "timed_out" }), { ...rules, retries: 5 });
    expect(after).toMatchObject({ status: "timed_out", attempt: 1 });
    expect(after.error).toContain("1m30s");
  });

  test("a failure with tries left is scheduled again and says so", () => {
    const after = afterTry(run, result({ exitCode: 3 }), { ...rules, retries: 2 });
    expect(after).toMatchObject({ status: "scheduled", attempt: 2, exitCode: 3, error: "try 1 of 3: exit code 3" });
    expect(after.endedAt).toBeUndefined();
    expect(afterFailure({ ...run, attempt: 3 }, "exit code 4", { retries: 2, timeoutMs: undefined })).toMatchObject({
      ...{ status: "failed", attempt: 3, error: "exit code 4" },
    });
  });
});

test("of the output the last 50 lines and 16 KiB are kept", () => {
  expect(shortTail(["a", "b"])).toEqual(["a", "b"]);
  const many = Array.from({ length: 80 }, (_, n) => String(n));
  expect(shortTail(many)).toEqual(many.slice(30));
  const wide = Array.from({ length: 10 }, (_, n) => String(n).repeat(4_000));
  expect(shortTail(wide)).toEqual(wide.slice(6));
});
