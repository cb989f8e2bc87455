import { describe, expect, test } from "bun:test";
import { guardFault } from "../../../../../src/orchestration/core/plan/guard.ts";
import type { GuardPolicy } from "../../../../../src/orchestration/core/workload.ts";

const guard: GuardPolicy = { failedShareMax: 0.05, p99MsMax: 800, overMs: 30_000, requestsMin: 20 };
const quiet = { requests: 0, failed: 0 };
const well = { requests: 400, failed: 0, p99_ms: 120 };
const fault = (fresh: typeof quiet & { p99_ms?: number }, old: typeof fresh | undefined = well, own = guard) =>
  guardFault(own, { fresh, old });

describe("the share of failed requests", () => {
  test("past the limit and past the old replicas is a fault, with the figures", () => {
    expect(fault({ requests: 80, failed: 12, p99_ms: 90 })).toBe(
      "12 of 80 requests failed (15 %, allowed 5 %; old replicas 0 %)",
    );
  });

  test("at the limit is not", () => {
    expect(fault({ requests: 100, failed: 5, p99_ms: 90 })).toBeUndefined();
    expect(fault({ requests: 100, failed: 6, p99_ms: 90 })).toBeDefined();
  });

  test("that the old replicas have as well is not a fault of the release", () => {
    expect(fault({ requests: 80, failed: 12 }, { requests: 160, failed: 24 })).toBeUndefined();
    expect(fault({ requests: 80, failed: 13 }, { requests: 160, failed: 24 })).toContain("old replicas 15 %");
  });

  test("of too few requests says nothing", () => {
    expect(fault({ requests: 19, failed: 19 })).toBeUndefined();
    expect(fault({ requests: 20, failed: 20 })).toBeDefined();
  });

  test("counts by itself when no old replica answered, and the text says so", () => {
    const text = "20 of 20 requests failed (100 %, allowed 5 %; no requests to old replicas)";
    expect(fault({ requests: 20, failed: 20 }, quiet)).toBe(text);
    expect(guardFault(guard, { fresh: { requests: 20, failed: 20 }, old: undefined })).toBe(text);
  });

  test("without enough requests to old replicas, the least number of requests has to fail", () => {
    expect(fault({ requests: 90, failed: 19 }, quiet)).toBeUndefined();
    expect(fault({ requests: 90, failed: 20 }, quiet)).toBeDefined();
    expect(fault({ requests: 90, failed: 19 }, { requests: 19, failed: 0 })).toBeUndefined();
    expect(fault({ requests: 90, failed: 19 }, { requests: 20, failed: 0 })).toBeDefined();
  });

  test("is not looked at where the guard names no limit for it", () => {
    expect(fault({ requests: 80, failed: 80 }, well, { ...guard, failedShareMax: undefined })).toBeUndefined();
  });

  test("with a limit of 0 allows no failure at all", () => {
    const strict = { ...guard, failedShareMax: 0 };
    expect(fault({ requests: 80, failed: 1 }, well, strict)).toContain("1 of 80 requests failed (1.25 %, allowed 0 %");
    expect(fault({ requests: 80, failed: 0 }, well, strict)).toBeUndefined();
  });
});

describe("the slowest requests", () => {
  test("past the limit and slower than those of the old replicas are a fault", () => {
    expect(fault({ requests: 80, failed: 0, p99_ms: 950 })).toBe(
      "p99 of 80 requests is 950 ms (allowed 800 ms; old replicas 120 ms)",
    );
    expect(fault({ requests: 80, failed: 0, p99_ms: 800 })).toBeUndefined();
  });

  test("are not one where the old replicas are as slow, or nothing was asked of them", () => {
    expect(fault({ requests: 80, failed: 0, p99_ms: 950 }, { ...well, p99_ms: 950 })).toBeUndefined();
    expect(fault({ requests: 80, failed: 0, p99_ms: 950 }, well, { ...guard, p99MsMax: undefined })).toBeUndefined();
  });
});

test("a p99 without old replicas to compare with needs 100 requests", () => {
  expect(fault({ requests: 99, failed: 0, p99_ms: 950 }, quiet)).toBeUndefined();
  expect(fault({ requests: 100, failed: 0, p99_ms: 950 }, quiet)).toContain("no requests to old replicas");
});

test("no request at all is no fault, whatever the least number", () => {
  expect(fault(quiet, well, { ...guard, requestsMin: 0 })).toBeUndefined();
});
