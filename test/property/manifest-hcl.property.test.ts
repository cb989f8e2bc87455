// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseToObject } from "hcl2-parser";
import { readDocuments } from "../../src/client/manifests/document.ts";
import { parseHcl } from "../../src/client/manifests/hcl/parser.ts";
import type { Fault } from "../../src/client/manifests/source.ts";
import { anyValue, changedHcl, hclPieces, hclValue } from "./hcl-texts.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 150);
/** Texts that are thrown at the parser: a million of them in test/soak. */
const texts = Number(process.env.BERTH_TEST_TEXTS ?? cases * 10);
const longest = Math.max(60_000, texts);
const setup = { readAsset: () => new Uint8Array(), depthMax: 64, nodesMax: 100_000, variables: {} };

function read(text: string) {
  const faults: Fault[] = [];
  const entries = readDocuments({ name: "x.hcl", text, directory: "/", format: "hcl" }, setup, faults);
  return { specs: entries.map(({ manifest }) => manifest.spec), messages: faults.map(({ message }) => message) };
}

test("what is written is what is read", () => {
  fc.assert(
    fc.property(fc.array(anyValue, { maxLength: 4 }), (values) => {
      const body = values.map((value, index) => `  a${index} = ${hclValue(value)}\n`).join("");
      const { specs, messages } = read(`any "a" "b" {\n${body}}\n`);
      expect(messages).toEqual([]);
      expect(specs).toEqual([Object.fromEntries(values.map((value, index) => [`a${index}`, value]))]);
    }),
    { numRuns: cases },
  );
});

test(
  "no text makes the parser fail, hang or answer with a fault that is not in it",
  () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 200 }),
          fc.array(hclPieces, { maxLength: 80 }).map((all) => all.join("")),
        ),
        (text) => {
          const faults: Fault[] = [];
          const entries = readDocuments({ name: "x.hcl", text, directory: "/", format: "hcl" }, setup, faults);
          expect(entries.length === 0 || text.length > 0).toBe(true);
          for (const { span } of faults) {
            expect(span.start).toBeGreaterThanOrEqual(0);
            expect(span.end).toBeLessThanOrEqual(text.length);
            expect(span.end).toBeGreaterThanOrEqual(span.start);
          }
        },
      ),
      { numRuns: texts },
    );
  },
  longest,
);

/** What HCL takes and a manifest does not; each is a fault of its own. */
const narrower = /is not a value|"for" is not supported|parts of values|directives are not|a label is a plain text/;
/**
 * What a manifest takes and HCL does not: several items on the line of a block, `${NAME}` as a value, defaults. A sign
 * before a literal of the wrong type is a fault of ours too, but only when it is calculated.
 */
const wider = /\{[^\n{}]*=[^\n]*\}|(?:^|[^"\w])\$\{|:-|!\s*(?:\d|null)|-\s*(?:true|false|null)/m;

test("it takes and refuses what the parser of HashiCorp takes and refuses", () => {
  fc.assert(
    fc.property(changedHcl, (text) => {
      const faults: Fault[] = [];
      parseHcl({ name: "x.hcl", text }, 64, faults);
      const theirs = parseToObject(text)[1] === null;
      const ours = faults.length === 0;
      if (ours === theirs) return;
      expect({ ours, text, messages: faults.map(({ message }) => message).join("\n") }).toEqual({
        ours,
        text: ours ? expect.stringMatching(wider) : text,
        messages: ours ? "" : expect.stringMatching(narrower),
      });
    }),
    { numRuns: cases },
  );
});
