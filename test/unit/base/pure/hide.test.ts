import { describe, expect, test } from "bun:test";
import { hidingOf } from "../../../../src/base/pure/hide.ts";

const hide = (value: string) => hidingOf([value], { mask: "***", charactersMin: 4 });

describe("a secret is hidden", () => {
  test.each([
    ["as it is", 'pa"ss\\wörd/1', 'the pa"ss\\wörd/1'],
    ["as JSON holds it", 'pa"ss\\wörd/1', 'the pa\\"ss\\\\wörd/1'],
    ["as an address holds it", 'pa"ss\\wörd/1', "the pa%22ss%5Cw%C3%B6rd%2F1"],
    ["as a header holds it", "pass/wörd", `the ${Buffer.from("pass/wörd").toString("base64")}`],
    ["line by line", "first line\r\nsecond one\n", "the second one"],
    ["with half a character", "abc\ud800def", "the abc\ud800def"],
  ])("%s", (_, secret, said) => {
    expect(hide(secret)(said)).toBe("the ***");
  });

  test("as a whole where a shorter one is a part of it", () => {
    expect(hidingOf(["secret", "secret-long"], { mask: "***", charactersMin: 4 })("secret-long, secret")).toBe(
      "***, ***",
    );
  });

  test("not where it is too short to be told from other texts", () => {
    expect(hide("on")("it is on")).toBe("it is on");
  });
});
