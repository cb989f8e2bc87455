// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { interpolate } from "../../../../src/client/manifests/interpolate.ts";

const variables = { TAG: "1.27", EMPTY: "", NESTED: "${TAG} $$", QUOTES: 'a" }\nb: [c' };
const text = (input: string) => interpolate(input, variables).text;

describe("interpolate", () => {
  test.each([
    ["web:${TAG}", "web:1.27"],
    ["${TAG}${TAG}", "1.271.27"],
    ["${NONE:-edge}", "edge"],
    ["${EMPTY:-edge}", "edge"],
    ["${TAG:-edge}", "1.27"],
    ["${EMPTY}", ""],
    ["${NONE:-}", ""],
    ["${NONE:-a:-b}", "a:-b"],
    ["$$", "$"],
    ["$${TAG}", "${TAG}"],
    ["$$${TAG}", "$1.27"],
    ["$TAG $ $(x)", "$TAG $ $(x)"],
    ["${asset.shop.files.conf}", "${asset.shop.files.conf}"],
    ["${ref.ingress.web.url}", "${ref.ingress.web.url}"],
  ])("%p", (input, output) => {
    expect(interpolate(input, variables)).toMatchObject({ text: output, problems: [] });
  });

  test("a value is never looked at again", () => {
    expect(text("${NESTED}")).toBe("${TAG} $$");
    expect(text("${QUOTES}")).toBe(variables.QUOTES);
  });

  test.each([
    ["a ${NONE} b", "${NONE}", 'variable "NONE" is not set'],
    ["${a.b}", "${a.b}", "is not a variable"],
    ["${TAG:=x}", "${TAG:=x}", "is not a variable"],
    ["${}", "${}", "is not a variable"],
    ["${TAG", "${TAG", "is not closed"],
  ])("%p is a problem", (input, part, message) => {
    const [problem] = interpolate(input, variables).problems;
    expect(problem?.part).toBe(part);
    expect(problem?.message).toContain(message);
  });

  test("says when the whole text was one variable", () => {
    expect(interpolate("${TAG}", variables).whole).toBe(true);
    expect(interpolate("${TAG} ", variables).whole).toBe(false);
    expect(interpolate("${TAG}${TAG}", variables).whole).toBe(false);
  });
});
