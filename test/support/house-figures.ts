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
  longFunctions: "functions of src that span more than 50 lines, from the line with their name to the closing brace",
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

const functionStart =
  /^(\s*)(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\b.*|(?:const|let)\s+\w+.*=>\s*\{|(?:static\s+|async\s+|private\s+)*\w+\(.*\).*\{)\s*$/;

/** The formatter closes a function at the indentation where it began. Returns the first line of each. */
function longFunctions(code: string): string[] {
  const lines = code.split("\n");
  const found: string[] = [];
  for (const [at, line] of lines.entries()) {
    const indent = functionStart.exec(line)?.[1];
    if (indent === undefined || /^\s*(?:if|for|while|switch|catch|else|return)\b/.test(line)) continue;
    const closing = isArgument(line) ? /^\}\)/ : /^\}(?!\s*[:)])/;
    const end = lines.findIndex(
      (other, index) => index > at && other.startsWith(indent) && closing.test(other.slice(indent.length)),
    );
    if (end - at + 1 > 50) found.push(line.trim());
  }
  return found;
}

/** `const a = list.map((item) => {` ends with `})`, a function of its own with `}`. */
const isArgument = (line: string): boolean => line.endsWith("{") && line.split("(").length > line.split(")").length;
