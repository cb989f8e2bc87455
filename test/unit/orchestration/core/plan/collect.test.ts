import { describe, expect, test } from "bun:test";
import {
  type LabelledContainer,
  orphans,
  type OrphansInput,
} from "../../../../../src/orchestration/core/plan/collect.ts";
import { now } from "./fixtures.ts";

const graceMs = 60_000;

function container(id: string, name = "web"): LabelledContainer {
  return {
    id,
    name: `shop-${name}.${id}`,
    kind: "deployment",
    scope: "shop",
    createdAt: now - 10 * graceMs,
    key: `deployment/shop/${name}`,
  };
}

/** All containers were first seen without a manifest longer than the grace ago, and many others live. */
function decide(ids: string[], change: Partial<OrphansInput> = {}) {
  return orphans({
    containers: ids.map((id) => container(id)),
    manifestKeys: new Set(),
    deleteMarks: new Set(),
    held: false,
    firstSeenAt: new Map(ids.map((id) => [id, now - graceMs])),
    now,
    graceMs,
    liveTotal: 100,
    ...change,
  });
}

const key = new Set(["deployment/shop/web"]);
const nothingHeld = { ids: [], why: undefined };

describe("orphans", () => {
  test("what has a manifest stays", () => {
    expect(decide(["a", "b"], { manifestKeys: key })).toEqual({ remove: [], hold: nothingHeld });
  });

  test("without one it goes after its grace, not before", () => {
    expect(decide(["a"]).remove).toEqual(["a"]);
    expect(decide(["a"], { firstSeenAt: new Map([["a", now - graceMs + 1]]) })).toEqual({
      remove: [],
      hold: nothingHeld,
    });
  });

  test("what is seen for the first time begins its grace now, however old it is", () => {
    expect(decide(["a"], { firstSeenAt: new Map() }).remove).toEqual([]);
  });

  test("a clock that was set back only makes it wait", () => {
    expect(decide(["a"], { firstSeenAt: new Map([["a", now + 9 * graceMs]]) }).remove).toEqual([]);
  });

  test("what was deleted goes at once, in any number, even while collection is held", () => {
    const all = ["a", "b", "c", "d"];
    const change = { deleteMarks: key, firstSeenAt: new Map<string, number>(), liveTotal: 4 };
    expect(decide(all, change)).toEqual({ remove: all, hold: nothingHeld });
    expect(decide(all, { ...change, held: true })).toEqual({ remove: all, hold: nothingHeld });
  });

  test("deleted and applied again: the manifest wins", () => {
    expect(decide(["a"], { deleteMarks: key, manifestKeys: key })).toEqual({ remove: [], hold: nothingHeld });
  });

  test("after a restore nothing goes until it is confirmed", () => {
    expect(decide(["a"], { held: true })).toEqual({
      remove: [],
      hold: { ids: ["a"], why: "the store was restored and the restore is not confirmed" },
    });
  });
});

describe("a mass removal", () => {
  const three = ["a", "b", "c"];

  test("of more than half of all that lives is refused", () => {
    expect(decide(three, { liveTotal: 5 })).toEqual({
      remove: [],
      hold: { ids: three, why: "3 of 5 containers have no manifest: the store may be the wrong one" },
    });
  });

  test("half is not more than half", () => {
    expect(decide(three, { liveTotal: 6 }).remove).toEqual(three);
  });

  test("one or two are never a mass", () => {
    expect(decide(["a", "b"], { liveTotal: 2 }).remove).toEqual(["a", "b"]);
  });

  test("those still in their grace do not count, those that were deleted go all the same", () => {
    const grace = new Map(three.map((id) => [id, now]));
    expect(decide(three, { liveTotal: 3, firstSeenAt: grace }).hold).toEqual(nothingHeld);
    const deleted = container("d", "gone");
    const made = decide(three, {
      containers: [...three.map((id) => container(id)), deleted],
      deleteMarks: new Set(["deployment/shop/gone"]),
      liveTotal: 4,
    });
    expect(made).toMatchObject({ remove: ["d"], hold: { ids: three } });
  });
});
