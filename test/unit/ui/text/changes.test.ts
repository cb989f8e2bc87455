import { expect, test } from "bun:test";
import { changeText } from "../../../../src/ui/text/changes.ts";

test("a field that changed, came or went", () => {
  expect(changeText({ path: "image", before: "web:1", after: "web:2" })).toBe('image: "web:1" → "web:2"');
  expect(changeText({ path: "env.DEBUG", before: "1" })).toBe('env.DEBUG: removed (was "1")');
  expect(changeText({ path: "ports", after: [80] })).toBe("ports: added [80]");
  expect(changeText({ path: "text", before: "x".repeat(500), after: "" }).length).toBeLessThan(200);
});
