/** The languages of manifests. */
export const formats = ["yaml", "json", "hcl"] as const;
export type Format = (typeof formats)[number];

/**
 * The language of a file by the end of its name. HCL has three more names: files that were written for another
 * controller with the same API (docs/contract/orchestration.md) are read as they are.
 */
export const formatOfExtension: ReadonlyMap<string, Format> = new Map([
  ["yaml", "yaml"],
  ["yml", "yaml"],
  ["hcl", "hcl"],
  ["json", "json"],
  ["voodu", "hcl"],
  ["vdu", "hcl"],
  ["vd", "hcl"],
]);

/** A text that manifests are read from. `name` is what the operator typed, for messages. */
export interface Source {
  name: string;
  text: string;
}

/** Part of a source, as offsets into its text. */
export interface Span {
  source: Source;
  start: number;
  end: number;
}

/** Something wrong in a source. */
export interface Fault {
  span: Span;
  message: string;
}

/** Every fault found in the files of one command; the message shows each with its place and an excerpt. */
export class ManifestError extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], shownMax: number) {
    super(formatFaults(faults, shownMax));
    this.name = "ManifestError";
    this.faults = faults;
  }
}

export function formatFaults(faults: readonly Fault[], shownMax: number): string {
  const blocks = faults.slice(0, shownMax).map(formatFault);
  if (faults.length > shownMax) blocks.push(`and ${faults.length - shownMax} more`);
  return blocks.join("\n\n");
}

/** `file:line:col: message`, the line, and a caret under the place. Columns count from 1, in UTF-16 units. */
function formatFault({ span, message }: Fault): string {
  return `${placeOf(span)}: ${message}\n${excerpt(span)}`;
}

/** `file:line:col` of the start of a span. */
export function placeOf(span: Span): string {
  const { line, column } = positionOf(span);
  return `${span.source.name}:${line}:${column}`;
}

function positionOf({ source, start }: Span): { line: number; column: number; lineStart: number } {
  const before = source.text.slice(0, start);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: start - lineStart + 1, lineStart };
}

const excerptMax = 100;

function excerpt(span: Span): string {
  const { line, column, lineStart } = positionOf(span);
  const lineEnd = span.source.text.indexOf("\n", lineStart);
  const whole = span.source.text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).replace(/\r$/, "");
  // A long line is shown around the caret only.
  const from = column > excerptMax ? column - 1 - excerptMax / 2 : 0;
  const shown = whole.slice(from, from + excerptMax);
  const before = shown.slice(0, column - 1 - from);
  const marked = shown.slice(before.length, before.length + Math.max(1, span.end - span.start));
  const padding = before.replace(/[^\t]/gu, (character) => " ".repeat(Bun.stringWidth(character)));
  const gutter = `  ${line}`;
  const carets = "^".repeat(Math.max(1, Bun.stringWidth(marked.trimEnd())));
  return `${gutter} | ${printable(shown)}\n${" ".repeat(gutter.length)} | ${padding}${carets}`;
}

/** Control characters replaced, so that a file cannot drive the terminal that shows it. */
function printable(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "\u{fffd}");
}
