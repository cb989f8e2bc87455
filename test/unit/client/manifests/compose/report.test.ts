import { expect, test } from "bun:test";
import { type Difference, groupedLines } from "../../../../../src/client/manifests/compose/report.ts";

function lines(...said: [path: string, message: string][]): string[] {
  return groupedLines(said.map(([path, message]): Difference => ({ place: "c:1:1", path, message, level: "change" })));
}

test("a line names the others of its kind by what they quote, or by their paths", () => {
  expect(lines(["a.x", "is no"], ["b.y", "is no"], ["c.z", "is no"])).toEqual(["c:1:1: a.x (and b.y, c.z): is no"]);
  expect(lines(["v[0]", '"./a" is large'], ["v[4]", '"./b" is large'])).toEqual([
    'c:1:1: v[0] (and "./b"): "./a" is large',
  ]);
});

test("what has the same name, and what is too much for a line, is a number", () => {
  expect(lines(["a", '".env" is gone'], ["b", '".env" is gone'])).toEqual(['c:1:1: a (and 1 more): ".env" is gone']);
  const many = Array.from({ length: 9 }, (_, at): [string, string] => [`p${at}`, "is no"]);
  expect(lines(...many)).toEqual(["c:1:1: p0 (and p1, p2, p3, p4, p5, 3 more): is no"]);
});
