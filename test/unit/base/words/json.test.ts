import { describe, expect, test } from "bun:test";
import { JsonError, parseJson } from "../../../../src/base/words/json.ts";

function faultOf(text: string, depthMax = 64): JsonError {
  try {
    parseJson(text, { depthMax });
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe("parseJson", () => {
  test("gives the same value as the platform's parser", () => {
    const text = ' {"a": [1, -2.5e3, true, false, null, "x\\u00e9\\n\\"", {}], "b": {"c": []}}\n';
    expect(parseJson(text, { depthMax: 3 })).toEqual(JSON.parse(text));
  });

  test.each([
    ['{"a":1,}', 1, 8, 'expected a key in double quotes but found "}"'],
    ["[1,2", 1, 5, 'expected "," or "]" but found the end'],
    ['{"a":1\n  "b":2}', 2, 3, 'expected "," or "}" but found "\\""'],
    ['{\n"a" 1}', 2, 5, 'expected ":" but found "1"'],
    ['["\\x"]', 1, 3, '"\\\\x" is not an escape'],
    ["[01]", 1, 3, 'expected "," or "]" but found "1"'],
    ["[1.]", 1, 3, 'expected "," or "]" but found "."'],
    ["nul", 1, 1, 'expected a value but found "n"'],
    ["", 1, 1, "expected a value but found the end"],
    ["  \n ", 2, 2, "expected a value but found the end"],
    ["[1e999]", 1, 2, "the number is too large"],
    ['"a\u0001"', 1, 3, "a control character in a string must be escaped"],
    ['{"a":"b', 1, 8, "the text ends inside a string"],
    ["[1] x", 1, 5, 'expected the end but found "x"'],
    ["😀", 1, 1, 'expected a value but found "😀"'],
  ])("%j fails at line %d column %d", (text, line, column, message) => {
    const fault = faultOf(text);
    expect([fault.line, fault.column, fault.message]).toEqual([line, column, message]);
    expect(fault.offset).toBeLessThanOrEqual(text.length);
  });

  test("counts nesting of arrays and objects alike, and only what is open at once", () => {
    expect(parseJson('[{"a":[]},[[]]]', { depthMax: 3 })).toEqual([{ a: [] }, [[]]]);
    expect(faultOf('[{"a":[[]]}]', 3).message).toBe("nested deeper than 3 levels");
    expect(faultOf('[{"a":[[]]}]', 3).offset).toBe(7);
  });

  test("a nesting of 10,000 is refused before anything recurses that deep", () => {
    expect(faultOf("[".repeat(10_000) + "]".repeat(10_000)).message).toBe("nested deeper than 64 levels");
  });

  test("a key given twice in one object is refused, also in another spelling", () => {
    const fault = faultOf('{"env": {"A": 1,\n "\\u0041": 2}}');
    expect([fault.message, fault.line, fault.column]).toEqual(['key "A" is given twice', 2, 2]);
    expect(parseJson('{"a":{"a":1},"b":{"a":2}}', { depthMax: 4 })).toEqual({ a: { a: 1 }, b: { a: 2 } });
  });

  test("__proto__ is a key like any other and pollutes nothing", () => {
    const value = parseJson('{"__proto__": {"polluted": true}}', { depthMax: 4 });
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });
});
