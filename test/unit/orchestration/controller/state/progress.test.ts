import { describe, expect, test } from "bun:test";
import { createProgress, type Progress } from "../../../../../src/orchestration/controller/state/progress.ts";
import { keyOf } from "../../../../support/world.ts";

const make = () => createProgress({ backoffFirstMs: 1_000, backoffMaxMs: 60_000, onListenerError: () => undefined });
const web = keyOf("deployment", "shop", "web");

/** Waits between starts of a container that dies at once, each start `lateMs` after it was due. */
function waits(starts: number, lateMs: number): number[] {
  const progress = make();
  let now = 0;
  return Array.from({ length: starts }, () => {
    progress.started("c1", now);
    const wait = progress.startNotBefore("c1") - now;
    now += wait + lateMs;
    return wait;
  });
}

describe("healing one container again and again", () => {
  test("waits longer each time, up to the most", () => {
    expect(waits(9, 0)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  });

  test("stays at the most when timers come a little late", () => {
    expect(waits(9, 5).slice(-3)).toEqual([60_000, 60_000, 60_000]);
  });

  test("begins anew once it has run for a minute", () => {
    const progress = make();
    for (const at of [0, 1_000, 3_000]) progress.started("c1", at);
    expect(progress.startNotBefore("c1")).toBe(7_000);
    progress.started("c1", 7_000 + 60_001);
    expect(progress.startNotBefore("c1")).toBe(68_001);
  });

  test("is held back for others, too", () => {
    const progress = make();
    expect(progress.startNotBefore("c1")).toBe(0);
    progress.holdStart("c1", 5_000);
    expect(progress.startNotBefore("c1")).toBe(5_000);
  });

  test("forgets containers that are long gone", () => {
    const progress = make();
    progress.started("gone", 0);
    progress.started("other", 100_000);
    expect(progress.startNotBefore("gone")).toBe(0);
  });
});

describe("a rollout", () => {
  const moved = (progress: Progress, target: string, now: number, reached = 0) =>
    progress.rolloutMovedAt(web, { target, reached, now });

  test("keeps its time until it gets further, its target moves or it is done", () => {
    const progress = make();
    expect(moved(progress, "a/1", 10)).toBe(10);
    expect(moved(progress, "a/1", 20)).toBe(10);
    expect(moved(progress, "a/1", 25, 1)).toBe(25);
    expect(moved(progress, "b/1", 30)).toBe(30);
    progress.rolloutDone(web);
    expect(moved(progress, "b/1", 40)).toBe(40);
  });

  test("that goes back and forth is no further", () => {
    const progress = make();
    const reached = [0, 1, 0, 1, 0, 2, 1, 2];
    expect(reached.map((far, now) => moved(progress, "a", now, far))).toEqual([0, 1, 1, 1, 1, 5, 5, 5]);
  });

  test("and its troubles are forgotten with the resource", () => {
    const progress = make();
    progress.setTrouble(web, { reason: "Other", message: "no", at: 1, attempts: 1, lasting: false, retryAt: 2 });
    moved(progress, "a/1", 10);
    progress.forget(web);
    expect([progress.trouble(web), moved(progress, "a/1", 20)]).toEqual([undefined, 20]);
  });
});

test("a held replica is held until everyone has let go", () => {
  const progress = make();
  const [first, second] = [progress.hold(web, "a", "being recreated"), progress.hold(web, "a", "being recreated")];
  first();
  expect(progress.held(web)).toEqual([["a", "being recreated"]]);
  expect(progress.held(keyOf("deployment", "shop", "other"))).toEqual([]);
  second();
  expect(progress.held(web)).toEqual([]);
});

test("a time in which nothing could be done does not count for a rollout", () => {
  const progress = make();
  progress.rolloutMovedAt(web, { target: "1", reached: 0, now: 10_000 });
  progress.skip({ from: 15_000, to: 75_000 });
  expect(progress.rolloutSince(web)).toBe(70_000);
  const api = keyOf("deployment", "shop", "api");
  progress.rolloutMovedAt(api, { target: "1", reached: 0, now: 80_000 });
  progress.skip({ from: 78_000, to: 90_000 });
  expect([progress.rolloutSince(api), progress.rolloutSince(web)]).toEqual([90_000, 82_000]);
});
