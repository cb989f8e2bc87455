import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { levelTone, lineTone, pieces, plainLine, readable } from "../../../../src/ui/text/lines.ts";

describe("lines of a log", () => {
  test.each([
    ['{"level":"error","msg":"x"}', "bad"],
    ['{"level":50,"msg":"x"}', "bad"],
    ['{"level":40}', "warn"],
    ['{"level":30}', undefined],
    ['{"severity": "WARNING"}', "warn"],
    ["2026-01-02T12:00:00Z ERROR could not connect", "bad"],
    ["[warn] slow", "warn"],
    ["level=error msg=x", "bad"],
    ["GET /errors 200", undefined],
    ["no errors were found", undefined],
    ["", undefined],
  ] as const)("%s", (text, tone) => expect(levelTone(text)).toBe(tone as never));

  test("what moves a cursor, or turns the direction of writing, is taken out", () => {
    expect(plainLine("\u001b[31mred\u001b[0m")).toBe("red");
    expect(plainLine("\u001b]0;title\u0007text")).toBe("text");
    expect(plainLine("a\u202eb\rc\u0000")).toBe("a�b�c�");
    expect(plainLine("a\tb")).toBe("a    b");
  });

  test("the pieces of a text are the text, and each second one is what was looked for", () => {
    expect(pieces("a refused, b REFUSED", "refused")).toEqual(["a ", "refused", ", b ", "REFUSED", ""]);
    fc.assert(
      fc.property(fc.string(), fc.string({ maxLength: 3 }), (text, wanted) => {
        expect(pieces(text, wanted).join("")).toBe(text);
      }),
    );
  });

  test("of a JSON line people read the message, and then the other fields", () => {
    expect(readable('{"level":"warn","time":1,"msg":"slow\\u0007 query","ms":940,"path":"/a b"}')).toEqual({
      message: "slow� query",
      fields: "ms=940 path=/a b",
    });
    expect(readable('{"a":1}')).toEqual({ message: '{"a":1}', fields: "" });
    expect(readable("{broken")).toEqual({ message: "{broken", fields: "" });
  });

  test("the level that the server read counts before the words", () => {
    expect(lineTone({ level: "info", text: "error" })).toBeUndefined();
    expect(lineTone({ level: "error", text: "fine" })).toBe("bad");
    expect(lineTone({ level: "none", text: "ERROR x" })).toBe("bad");
  });
});
