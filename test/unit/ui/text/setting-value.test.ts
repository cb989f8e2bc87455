import { expect, test } from "bun:test";
import { settingText, settingValue } from "../../../../src/ui/text/settings.ts";

test.each([
  ["text", " My shop ", "My shop"],
  ["text", "", null],
  ["flag", "false", false],
  ["flag", "true", true],
  ["number", "12", 12],
  ["number", "twelve", "twelve"],
  ["number", "", null],
  ["list", "https://a.test/x\n\n https://b.test/y ", ["https://a.test/x", "https://b.test/y"]],
  ["word", "de", "de"],
])("a %s written as %j is %j", (kind, text, value) => expect(settingValue({ kind }, text)).toEqual(value));

test.each([
  [null, ""],
  [["a", "b"], "a\nb"],
  [true, "true"],
  [8, "8"],
])("%j is shown as %j", (value, text) => expect(settingText(value)).toBe(text));
