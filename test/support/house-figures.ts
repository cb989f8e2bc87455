/**
 * How large the house is and how much ceremony it has, in figures that `bun test/figures.ts` prints and that
 * test/golden/house-figures.json holds as limits: a figure may shrink, and does not grow unless its limit is raised there.
 * Each figure is counted by the text alone, so that two people count the same.
 */
import { type Arrows, importArrows, roomCircles } from "./rooms.ts";
import type { Source } from "./source.ts";

/** Key → what it counts. */
export const definitions = {
  lines: "lines of .ts, .tsx, .sh and .css in src and plugins",
  files: "files of these kinds in src and plugins",
  oneImporter: "files of src that exactly one other file of src imports",
  smallFiles: "files of src under 25 lines",
  interfacesUsedOnce:
    "interfaces of src whose name stands once in src, plugins and test, beside its declaration and imports",
  roomCycles:
    "circles of rooms: sets of two or more folders of one layer that reach each other by imports (all layers)",
  longFunctions: "functions of src with more than 50 lines of their own: a function inside of another counts by itself",
  optionalSpreads: "places of the form ...(x === undefined ? {} : {…})",
  longFiles: "files of src and plugins with more than 250 lines",
} as const;

export type Figure = keyof typeof definitions;

interface Measured {
  /** Of src and plugins, .ts and .tsx. */
  sources: readonly Source[];
  /** Of test, .ts and .tsx. */
  tests: readonly { path: string; text: string }[];
  /** The other files that count as lines: .sh and .css of src and plugins. */
  others: readonly { path: string; text: string }[];
}

export function houseFigures({ sources, tests, others }: Measured): Record<Figure, number> {
  const ours = sources.filter(({ path }) => path.startsWith("src/"));
  const all = [...sources, ...others];
  const arrows = importArrows(ours);
  return {
    lines: sum(all, ({ text }) => lineCount(text)),
    files: all.length,
    oneImporter: filesWithOneImporter(arrows).length,
    smallFiles: ours.filter(({ text }) => lineCount(text) < 25).length,
    interfacesUsedOnce: interfacesUsedOnce(ours, [...sources.map(({ code }) => code), ...tests.map(({ text }) => text)])
      .length,
    roomCycles: roomCircles(arrows).length,
    longFunctions: sum(ours, ({ code }) => longFunctions(code).length),
    optionalSpreads: sum(ours, ({ code }) => code.match(/\.\.\.\([^()]*=== undefined\s*\?\s*\{\}/g)?.length ?? 0),
    longFiles: sources.filter(({ text }) => lineCount(text) > 250).length,
  };
}

/** What of a file counts in a figure that it can be made smaller for, by where it is. */
export function placesOf(path: string, text: string): { figure: Figure; place: string }[] {
  const lines = lineCount(text);
  const size = { place: `${path} has ${lines} lines` };
  return [
    ...(text !== "" && path.startsWith("src/") && lines < 25 ? [{ figure: "smallFiles" as const, ...size }] : []),
    ...(lines > 250 ? [{ figure: "longFiles" as const, ...size }] : []),
    ...longFunctions(text).map((line) => ({ figure: "longFunctions" as const, place: `${path}: ${line}` })),
  ];
}

const sum = <T>(list: readonly T[], figure: (item: T) => number): number =>
  list.reduce((total, item) => total + figure(item), 0);

function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function filesWithOneImporter(arrows: Arrows): string[] {
  const importers = new Map<string, number>();
  for (const targets of arrows.values()) {
    for (const target of targets) importers.set(target, (importers.get(target) ?? 0) + 1);
  }
  return [...importers].filter(([, count]) => count === 1).map(([path]) => path);
}

/** A name that stands for two interfaces counts by all its places, so it is rather missed than counted wrongly. */
function interfacesUsedOnce(files: readonly Source[], texts: readonly string[]): string[] {
  const declared = files.flatMap(({ code }) =>
    Array.from(code.matchAll(/^(?:export )?interface (\w+)/gm), ([, name = ""]) => name),
  );
  const places = new Map(declared.map((name) => [name, 0]));
  for (const text of texts) {
    const used = text.replaceAll(/^import\b[^;]*;/gm, "");
    for (const [word] of used.matchAll(/\b[A-Z]\w*/g)) {
      const count = places.get(word);
      if (count !== undefined) places.set(word, count + 1);
    }
  }
  const declarations = Map.groupBy(declared, (name) => name);
  return declared.filter((name) => (places.get(name) ?? 0) - (declarations.get(name)?.length ?? 0) === 1);
}

/** Words that a block of statements begins with. What else ends with `) {` or `=> {` is a function. */
const statement = /^\s*(?:\}\s*)?(?:if|for|while|switch|catch|else|return|try|do)\b(?!.*=>)/;
const header =
  /(?:=>(?: [({[])?|\bfunction\b.*[({]|^\s*(?:(?:export|default|async|static|private|get|set)\s+)*\w+\(.*\).* \{)$/;
const signatureEnd = /^\s*\)(?:: .*)?(?: =>)? \{$/;

interface Span {
  /** First and last line, from 0. */
  start: number;
  end: number;
}

/** Functions of more than one line. The formatter closes each at the indentation where it began. */
function functionsOf(lines: readonly string[]): Span[] {
  const found: Span[] = [];
  for (const [at, line] of lines.entries()) {
    if (statement.test(line)) continue;
    const isLongHeader = /(?:\w|>)\($/.test(line) || /= (?:async )?(?:<.*>)?\($/.test(line);
    if (!header.test(line) && !isLongHeader) continue;
    const indent = indentOf(line);
    let end = lines.findIndex((other, index) => index > at && other.trim() !== "" && indentOf(other) <= indent);
    if (isLongHeader && !header.test(line)) {
      if (end === -1 || !signatureEnd.test(lines[end] ?? "")) continue;
    }
    // The end of a signature over several lines is not the end of the function.
    while (end !== -1 && signatureEnd.test(lines[end] ?? "") && indentOf(lines[end] ?? "") === indent) {
      const from = end;
      end = lines.findIndex((other, index) => index > from && other.trim() !== "" && indentOf(other) <= indent);
    }
    if (end > at) found.push({ start: at, end: /^\s*[)}\]]/.test(lines[end] ?? "") ? end : end - 1 });
  }
  return found;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The first line of each function with more than `ownLinesMax` lines of its own: those of functions inside of it are theirs. */
function longFunctions(code: string): string[] {
  const lines = code.split("\n");
  const all = functionsOf(lines);
  return all
    .filter(({ start, end }) => {
      if (end - start < ownLinesMax) return false;
      const inner = all.filter((other) => other.start > start && other.end <= end);
      const theirs = new Set(
        inner.flatMap((other) => Array.from({ length: other.end - other.start + 1 }, (_, i) => other.start + i)),
      );
      return end - start + 1 - theirs.size > ownLinesMax;
    })
    .map(({ start }) => (lines[start] ?? "").trim());
}

const ownLinesMax = 50;
