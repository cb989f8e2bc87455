import { expect, test } from "bun:test";
import { sinceFirst } from "../../../../../src/observability/core/apps/problems.ts";

const problem = (id: string, since?: string) => ({
  ...{ id, severity: "critical" as const, type: "crash_loop", title: "", cause: "", since },
});

test("a problem that lasts keeps its beginning while its container starts and dies", () => {
  const [first, later] = ["2026-01-02T12:00:00Z", "2026-01-02T12:05:00Z"];
  expect(sinceFirst([problem("a", later)], [problem("a", first)])[0]?.since).toBe(first);
  expect(sinceFirst([problem("a", first)], [problem("a", later)])[0]?.since).toBe(first);
  expect(sinceFirst([problem("a", later)], [problem("b", first)])[0]?.since).toBe(later);
  expect(sinceFirst([problem("a", later)], [problem("a")])[0]?.since).toBe(later);
});
