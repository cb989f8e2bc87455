// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseToObject } from "hcl2-parser";
import { readDocuments } from "../../src/client/manifests/document.ts";
import { parseHcl } from "../../src/client/manifests/hcl/parser.ts";
import type { Fault } from "../../src/client/manifests/source.ts";

const cases = Number(process.env.BERTH_TEST_CASES ?? 300);
const setup = { readAsset: () => new Uint8Array(), depthMax: 64, nodesMax: 100_000, variables: {} };

function read(text: string) {
  const faults: Fault[] = [];
  const entries = readDocuments({ name: "x.hcl", text, directory: "/", format: "hcl" }, setup, faults);
  return { specs: entries.map(({ manifest }) => manifest.spec), messages: faults.map(({ message }) => message) };
}

/** A value as people write it in a plugin's block, which takes any. */
function written(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${quoted(key)} = ${written(inner)}`)
    .join(", ")} }`;
}

function quoted(text: string): string {
  return `"${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll("\\b", "\\u0008")
    .replaceAll("\\f", "\\u000c")
    .replaceAll(/[$%]\{/g, (mark) => mark[0] + mark)}"`;
}

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("$", "${X}", "$${", "%{if}", "<<E", '"', "\n"),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    anyText,
    fc.integer(),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(anyText, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test("what is written is what is read", () => {
  fc.assert(
    fc.property(fc.array(anyValue, { maxLength: 4 }), (values) => {
      const body = values.map((value, index) => `  a${index} = ${written(value)}\n`).join("");
      const { specs, messages } = read(`any "a" "b" {\n${body}}\n`);
      expect(messages).toEqual([]);
      expect(specs).toEqual([Object.fromEntries(values.map((value, index) => [`a${index}`, value]))]);
    }),
    { numRuns: cases },
  );
});

const pieces = fc.constantFrom(
  ..."{}[]()=:,.\"'\\\n$#/*-+<>!?%&|;",
  "${",
  "$${",
  "%{",
  "<<E\n",
  "<<-E\n",
  "\nE\n",
  "/*",
  "*/",
  "//",
  "\r\n",
  " ",
  "a",
  "for",
  "null",
  "1",
  "0.5",
  "1e9",
  "x = ",
  'a "b" {',
  "file(",
  "é",
  "\u{1f600}",
  "\0",
);

test("no text makes the parser fail, hang or answer with a fault that is not in it", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 200 }),
        fc.array(pieces, { maxLength: 80 }).map((all) => all.join("")),
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
    { numRuns: cases * 10 },
  );
});

const corpus = [
  'app "shop" "web" {\n  image = "nginx:1"\n  replicas = 1 + 2 * 2\n  ports = ["80", 81]\n  env = {\n    A = "x"\n    "B-c" : true\n  }\n}\n',
  'deployment "a" "b" {\n  command = ["sh", "-c", <<-SH\n    set -eu\n      echo "$${X}"\n  SH\n  ]\n  init "one" {\n    command = ["x"]\n    limits { cpu = "1" }\n  }\n}\n',
  '# c\n// d\n/* e\n f */\nasset "x" {\n  f = file("a/b")\n  u = url("https://x", {\n    timeout = "8s"\n  })\n  m = <<EOT\none\n  two "x"\nEOT\n}\n',
  'job a b {\n  restart = true ? "always" : "no"\n  x = "a${"b"}c\\t\\u00e9"\n  y = -1.5e3\n  z = !(1 < 2) || 3 >= 2 && 4 != 5\n}\n\nmail {}\n',
];
const changed = fc
  .tuple(fc.constantFrom(...corpus), fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constant(""), pieces)), { maxLength: 3 }))
  .map(([text, edits]) =>
    edits.reduce((current, [at, piece]) => {
      const place = at % (current.length + 1);
      return current.slice(0, place) + piece + current.slice(place + (piece === "" ? 1 : 0));
    }, text),
  );

/** What HCL takes and a manifest does not; each is a fault of its own. */
const narrower = /is not a value|"for" is not supported|parts of values|directives are not|a label is a plain text/;
/** What a manifest takes and HCL does not: several items on the line of a block, `${NAME}` as a value, defaults. */
const wider = /\{[^\n{}]*=[^\n]*\}|(?:^|[^"\w])\$\{|:-/m;

test("it takes and refuses what the parser of HashiCorp takes and refuses", () => {
  fc.assert(
    fc.property(changed, (text) => {
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
