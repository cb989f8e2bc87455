import { type Document, visit } from "yaml";
import type { Fault, Source } from "./source.ts";

/** The YAML parser's complaints in our words: what stands there, and what was expected. */
const known: readonly (readonly [RegExp, string])[] = [
  [/^Map keys must be unique/, "this key is in the map twice"],
  [/^Tabs are not allowed/, "tabs cannot indent: use spaces"],
  [
    /^Nested mappings are not allowed/,
    'expected one value here: a line below is too deep, or a text with ": " has no quotes',
  ],
  [/^A block sequence may not be used/, "expected a value behind the key: a list begins on a line of its own"],
  [/^All mapping items must start/, "expected a key in the same column as the keys above it"],
  [/^All sequence items must start/, 'expected "-" in the same column as those above it'],
  [/^Sequence item without - indicator/, 'expected "-" before this item of a list'],
  [/^Implicit map keys need to be followed/, 'expected ":" and a value after this key'],
  [/^Implicit keys need to be on a single line/, 'expected ":" after the key on this line'],
  [/^Missing closing (.)quote/, "expected the closing $1 of a text before the end of the file"],
  [/^Missing , (?:or : )?between/, 'expected "," between these items'],
  [/^Missing space after :/, 'expected a space after ":"'],
  [/^Plain value cannot start with .*?(\S)$/, 'a text that begins with "$1" needs quotes'],
  [/^Comments must be separated/, 'expected a space before "#"'],
  [/^Invalid escape sequence (.*)$/s, '"$1" is not an escape: write \\\\ for a backslash, or use single quotes'],
  [
    /^Unexpected (?:scalar|flow-|block-)\S* at node end/,
    "expected the end of this value: a text that goes on needs quotes",
  ],
  [
    /^Flow (?:map|sequence) in block collection .* end with an? (.)/,
    'expected "$1" to close the bracket opened above, on a line that is indented',
  ],
  [/^Flow (?:map|sequence) must end with an? (.)/, 'expected "$1" before the end of the file'],
  [/^Unexpected (\S) in/, 'expected a value, not "$1"'],
];

/** A complaint with its place. Of a text whose quote is not closed, that is where it begins, and not where the file or the next quote ends it. */
export function yamlFault(
  document: Document,
  complaint: Document["errors"][number] | Document["warnings"][number],
  source: Source,
): Fault {
  const { code, message, pos } = complaint;
  const [start, end] = pos;
  const at = openQuote(document, source.text, { at: start, isOpen: code === "MISSING_CHAR" });
  if (at === undefined) return { span: { source, start, end }, message: yamlWords(code, message) };
  const quote = source.text.charAt(at);
  const words = `the text that begins here is not closed: expected ${quote} before the end of this line`;
  return { span: { source, start: at, end: at + 1 }, message: words };
}

/** Where a quoted text begins that ends where the parser complains: one of several lines, or one that nothing closes. */
function openQuote(
  document: Document,
  text: string,
  { at, isOpen }: { at: number; isOpen: boolean },
): number | undefined {
  let found: number | undefined;
  visit(document, {
    Scalar(_, { type, range }) {
      if (type !== "QUOTE_DOUBLE" && type !== "QUOTE_SINGLE") return;
      const [start, end] = range ?? [0, 0];
      const isLong = isOpen || text.slice(start, end).includes("\n");
      if (isLong && start < at && end >= at - 3 && text.slice(end, at).trim() === "") found = start;
    },
  });
  return found;
}

/** One complaint of the parser; `code` decides where its text would not help. */
function yamlWords(code: string, complaint: string): string {
  if (code === "RESOURCE_EXHAUSTION") return "nested too deep";
  if (code === "TAG_RESOLVE_FAILED") return `${lowerFirst(complaint)}: known tags are !file and !url`;
  for (const [pattern, words] of known) {
    const found = pattern.exec(complaint);
    if (found !== null) return words.replaceAll("$1", () => found[1] ?? "");
  }
  return lowerFirst(complaint).replace(/\.$/, "");
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
