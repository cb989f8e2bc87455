import { expect, test } from "bun:test";
import { envText } from "../../../../src/client/env/text.ts";

test.each([
  ["plain-1.2/x:y", "A=plain-1.2/x:y\n"],
  ["", "A=\n"],
  ["two words", "A='two words'\n"],
  ["a # b", "A='a # b'\n"],
  ['{"k":"$v"}', `A='{"k":"$v"}'\n`],
  ["it's $5", `A="it's \\$5"\n`],
  ["-----BEGIN\nx\n", 'A="-----BEGIN\\nx\\n"\n'],
  ["\\n\r", 'A="\\\\n\\r"\n'],
])("%j is written as %j", (value, text) => {
  expect(envText({ A: value })).toBe(text);
});

test("keys are sorted", () => {
  expect(envText({ B: "2", A: "1" })).toBe("A=1\nB=2\n");
});
