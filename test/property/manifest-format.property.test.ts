import { expect, test } from "bun:test";
import fc from "fast-check";
import { readDocuments } from "../../src/client/manifests/document.ts";
import { formatHcl } from "../../src/client/manifests/hcl/format.ts";
import { readTokens } from "../../src/client/manifests/hcl/lexer.ts";
import type { Fault } from "../../src/client/manifests/source.ts";
import { anyValue, changedHcl, hclPieces, hclValue } from "./hcl-texts.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 300);
const setup = { readAsset: () => new Uint8Array(), depthMax: 64, nodesMax: 100_000, variables: { X: "x" } };

/** What a text means: its manifests, what is wrong with them, and its comments. */
function meaning(text: string) {
  const faults: Fault[] = [];
  const entries = readDocuments({ name: "x.hcl", text, directory: "/", format: "hcl" }, setup, faults);
  const comments = readTokens({ name: "x.hcl", text }, []).filter(({ kind }) => kind === "comment");
  return {
    manifests: entries.map(({ manifest }) => manifest),
    messages: faults.map(({ message }) => message.replaceAll(/x\.hcl:\d+:\d+/g, "x.hcl")),
    comments: comments.map((comment) => comment.text.trimEnd()),
  };
}

function format(text: string): string | undefined {
  return formatHcl({ name: "x.hcl", text }, 64, []);
}

const blanks = fc.constantFrom("", " ", "   ", "\t", "\n", "\n\n\n", " # c\n", "\r\n", " /* c */ ");
const generated = fc.array(fc.tuple(anyValue, blanks, blanks), { maxLength: 4 }).map((values) => {
  const lines = values.map(
    ([value, before, after], at) => `${before}a${at}${" ".repeat(at)}=${hclValue(value)}${after}\n`,
  );
  return `any "a" "b" {\n${lines.join("")}}\n`;
});
const inPieces = fc.array(fc.oneof(hclPieces, blanks), { maxLength: 40 }).map((all) => all.join(""));

test("formatting keeps the meaning and the comments, and formatting again changes nothing", () => {
  let formatted = 0;
  fc.assert(
    fc.property(fc.oneof(changedHcl, generated, inPieces), (text) => {
      const once = format(text);
      if (once === undefined) return;
      formatted += 1;
      expect(meaning(once)).toEqual(meaning(text));
      expect(format(once)).toBe(once);
    }),
    { numRuns: cases * 3 },
  );
  expect(formatted).toBeGreaterThan(cases / 3);
});
