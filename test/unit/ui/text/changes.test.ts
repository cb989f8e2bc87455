import { expect, test } from "bun:test";
import { changeText, specChanges } from "../../../../src/ui/text/changes.ts";

test("a field that changed, came or went", () => {
  expect(changeText({ path: "image", before: "web:1", after: "web:2" })).toBe('image: "web:1" → "web:2"');
  expect(changeText({ path: "env.DEBUG", before: "1" })).toBe('env.DEBUG: removed (was "1")');
  expect(changeText({ path: "ports", after: [80] })).toBe("ports: added [80]");
  expect(changeText({ path: "text", before: "x".repeat(500), after: "" }).length).toBeLessThan(200);
});

test("two specs: what differs, with its path, however deep; lists are one value", () => {
  const before = { image: "web:1", env: { A: "1", B: "2", "x.y": "3" }, ports: [80], same: { a: [1] } };
  const after = {
    image: "web:2",
    env: { A: "1", B: "3" },
    ports: [80, 81],
    same: { a: [1] },
    probes: { ready: { path: "/" } },
  };
  expect(specChanges(before, after).map((change) => changeText(change))).toEqual([
    'env.B: "2" → "3"',
    'env["x.y"]: removed (was "3")',
    'image: "web:1" → "web:2"',
    "ports: [80] → [80,81]",
    'probes.ready.path: added "/"',
  ]);
  expect(specChanges(undefined, { a: { b: 1 } })).toEqual([{ path: "a.b", before: undefined, after: 1 }]);
  expect(specChanges(before, structuredClone(before))).toEqual([]);
});
