import { expect, test } from "bun:test";
import { planLines } from "../../../../src/ui/text/plan.ts";

const row = { ref: "deployment/shop/web", action: "update", changed: [], replicas: [], notes: [] };
const replica = (action: string) => ({ action, why: "" });

test("what ends, and what visitors notice, is marked", () => {
  const lines = planLines({
    ...row,
    changed: ["image"],
    replicas: [replica("replace"), replica("remove")],
    serving: { before: 2, least: 0 },
  });
  expect(lines).toEqual([
    { text: "changes image", ends: false },
    { text: "1 replica is replaced", ends: false },
    { text: "1 replica ends", ends: true },
    { text: "for a while no replica serves: requests fail", ends: true },
  ]);
  expect(planLines({ ...row, replicas: [replica("replace")], serving: { before: 2, least: 2 } }).at(-1)).toEqual({
    text: "at least 2 of 2 replicas serve all the time",
    ends: false,
  });
  expect(planLines({ ...row, action: "unchanged" })).toEqual([{ text: "nothing changes", ends: false }]);
});
