// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { readDocuments } from "../../src/client/manifests/document.ts";
import { interpolate } from "../../src/client/manifests/interpolate.ts";
import type { Fault } from "../../src/client/manifests/source.ts";

const setup = {
  readAsset: () => new Uint8Array(),
  depthMax: 64,
  nodesMax: 100_000,
};

function read(text: string, variables: Record<string, string> = {}) {
  const faults: Fault[] = [];
  const file = { name: "x.yaml", text, directory: "/", format: "yaml" as const };
  const entries = readDocuments(file, { ...setup, variables }, faults);
  return { manifests: entries.map(({ manifest }) => manifest), messages: faults.map(({ message }) => message) };
}

/** `$` doubled in every text value, as the manual says to write it. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("$", "$$$$");
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]));
}

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("$", "${X}", "$$", "yes", "0123", "~", "<<", "- a"),
);
const anyKey = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("__proto__", "true", "1e3", "${X}", "a.b", ""),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    anyText,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(anyKey, tie("value"), { maxKeys: 4 }),
  ),
}));

const manifest = fc.record({
  kind: fc.constantFrom("deployment", "job"),
  scope: anyText,
  name: anyText,
  // Environment values must be text, which is another test's business.
  spec: fc.dictionary(anyKey, anyValue, { maxKeys: 5 }).filter((spec) => !JSON.stringify(spec).includes('"env"')),
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("any manifest printed as YAML reads back identical", () => {
  fc.assert(
    fc.property(manifest, (value) => {
      const { manifests, messages } = read(stringify(escaped(value)));
      expect(messages).toEqual([]);
      expect(plain(manifests)).toEqual(plain([value]));
    }),
    { numRuns: 500 },
  );
});

test("any manifest printed as JSON reads back identical", () => {
  fc.assert(
    fc.property(manifest, (value) => {
      const { manifests } = read(JSON.stringify([escaped(value)], null, 2));
      expect(plain(manifests)).toEqual(plain([value]));
    }),
    { numRuns: 300 },
  );
});

test("interpolation never touches what is not the value of a scalar", () => {
  const name = fc.stringMatching(/^[A-Z]{1,6}$/);
  fc.assert(
    fc.property(name, fc.string({ unit: "binary" }), anyText, (variable, content, key) => {
      const text = `# \${${variable}}\n${stringify({ kind: "job", spec: { [`k${key}`]: "@", list: ["@"] } }).replaceAll(
        /"@"/g,
        `"\${${variable}}" # \${NONE}`,
      )}`;
      const { manifests } = read(text, { [variable]: content });
      expect(plain(manifests)).toEqual(plain([{ kind: "job", spec: { [`k${key}`]: content, list: [content] } }]));
    }),
    { numRuns: 300 },
  );
});

test("text without a dollar sign is left alone, and doubling dollars undoes interpolation", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(interpolate(text.replaceAll("$", "$$$$"), {})).toMatchObject({ text, problems: [] });
      if (!text.includes("$")) expect(interpolate(text, {}).text).toBe(text);
    }),
  );
});

test("no file makes the reader fall over", () => {
  const piece = fc.constantFrom(
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    "&x ",
    "*x",
    "<<",
    '"',
    "'",
    "|",
    "\t",
    "---",
    "!file ",
    "${",
    "#",
    "?",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const { manifests, messages } = read(pieces.join(""));
      expect(Array.isArray(manifests) && messages.every((message) => message !== "")).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
