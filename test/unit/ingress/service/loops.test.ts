import { expect, test } from "bun:test";
import { createLoops } from "../../../../src/ingress/service/loops.ts";
import { runningWith } from "../../../support/ingress-running.ts";
import { site } from "../../../support/ingress-table.ts";

function loops() {
  const clock = { now: 0 };
  const limits = { loopLines: 3, loopKeptMs: 1_000 };
  const made = createLoops({ running: () => runningWith([site("web", [])]), now: () => clock.now, limits });
  return { ...made, clock };
}

test("several requests over http that were https before are a loop, and the warning names who sends them", () => {
  const { take, problem } = loops();
  expect([take("loop p1 203.0.113.7"), take("loop p1 203.0.113.7"), problem("shop/web")]).toEqual([
    true,
    true,
    undefined,
  ]);
  take("loop p1 203.0.113.8\n");
  expect(problem("shop/web")).toContain("203.0.113.8 sends their https requests over http");
  expect(problem("shop/other")).toBeUndefined();
});

test("the warning ends some time after the last request", () => {
  const { take, problem, clock } = loops();
  for (const _ of [1, 2, 3]) take("loop p1 203.0.113.7");
  clock.now = 999;
  expect(problem("shop/web")).toBeDefined();
  clock.now = 1_000;
  expect(problem("shop/web")).toBeUndefined();
  take("loop p1 203.0.113.7");
  expect(problem("shop/web")).toBeUndefined();
});

test("other lines are left to others, and those of a site that is gone mean nothing", () => {
  const { take, problem } = loops();
  expect(["wake p1 shop.test", "p1 s1 200 1 2", "loop p1", "loop"].map(take)).toEqual([false, false, false, false]);
  for (const _ of [1, 2, 3]) expect(take("loop p9 203.0.113.7")).toBe(true);
  expect(problem("shop/web")).toBeUndefined();
});
