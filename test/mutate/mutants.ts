import { source } from "../support/source.ts";

/** One change of a file that its tests should notice. */
export interface Mutant {
  /** Index in the text. */
  at: number;
  /** Counted from 1. */
  line: number;
  from: string;
  to: string;
}

interface Rule {
  /** Found in code without comments and literals; the formatter's blanks tell an operator from a type argument. */
  find: RegExp;
  to: (found: string) => string;
}

const swaps: Readonly<Record<string, string>> = {
  " < ": " <= ",
  " <= ": " < ",
  " > ": " >= ",
  " >= ": " > ",
  " === ": " !== ",
  " !== ": " === ",
  " && ": " || ",
  " || ": " && ",
  " + ": " - ",
  " - ": " + ",
  true: "false",
  false: "true",
  "Math.min(": "Math.max(",
  "Math.max(": "Math.min(",
  ".some(": ".every(",
  ".every(": ".some(",
};

const rules: readonly Rule[] = [
  { find: / (?:<=?|>=?|[!=]==|&&|\|\||\+|-) /g, to: (found) => swaps[found] ?? "" },
  { find: /(?<=[=(:?,[] |return |\(|\|\| |&& )(?:true|false)\b/g, to: (found) => swaps[found] ?? "" },
  { find: /Math\.(?:min|max)\(|\.(?:some|every)\(/g, to: (found) => swaps[found] ?? "" },
  // A condition that is asked the other way round.
  { find: /(?<=\bif \()(?=[^!\n])/g, to: () => "!" },
  { find: /(?<=[(|&=] ?)!(?=[a-zA-Z(])/g, to: () => "" },
  // An early return that does not happen.
  { find: /(?<=^ *if \(.*\) )return\b[^;\n]*;$/gm, to: () => "{}" },
];

/** All mutants of a file, in the order of their places. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const { code } = source(path, text);
  const found = rules.flatMap(({ find, to }) =>
    [...code.matchAll(find)].map((match) => ({
      at: match.index,
      line: text.slice(0, match.index).split("\n").length,
      // The text itself: a literal in it is blank in the code.
      from: text.slice(match.index, match.index + match[0].length),
      to: to(match[0]),
    })),
  );
  return found.filter(({ line }) => !isTypeLine(code.split("\n")[line - 1] ?? "")).toSorted((a, b) => a.at - b.at);
}

/** Types are gone before anything runs. */
function isTypeLine(line: string): boolean {
  return /^\s*(?:export )?(?:type|interface|import)\b/.test(line) || /^\s*\| /.test(line);
}

export function mutated(text: string, { at, from, to }: Mutant): string {
  return text.slice(0, at) + to + text.slice(at + from.length);
}
