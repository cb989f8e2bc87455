import { expect, test } from "bun:test";
import { asWhole, conflictsOf } from "../../../../src/ui/text/config.ts";

const event = (seq: number, keys: string[], actor = "bea") => ({
  ...{ seq, at: "2026-01-02T12:00:00Z", actor, action: "config.set", scope: "shop", name: "web" },
  ...{ detail: { keys }, title: `config changed: ${keys.join(", ")}` },
});

test("a file that is everything unsets what it does not have", () => {
  expect(asWhole({ A: "1", B: "2" }, ["B", "C"])).toEqual({ A: "1", B: "2", C: null });
});

test("keys that another person stored since the draft began are conflicts, each with its newest change", () => {
  const events = [event(9, ["A", "C"], "cem"), event(8, ["A"]), event(5, ["B"])];
  const found = conflictsOf({ A: "mine", B: "mine", D: null }, events, 5);
  expect(found.map(({ key, by }) => [key, by])).toEqual([["A", "cem"]]);
  expect(conflictsOf({ A: "mine" }, events, 9)).toEqual([]);
});
