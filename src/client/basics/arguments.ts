import { usageFailure } from "./failures.ts";
import { didYouMean } from "./suggest.ts";

export interface Flag {
  /** Without the dashes. */
  name: string;
  short?: string;
  /** Other long names with the same meaning. */
  aliases?: readonly string[];
  /** What its value is called in the help; a flag without it is a switch. */
  value?: string;
  /** May be given several times. */
  repeat?: boolean;
  summary: string;
}

export interface Arguments {
  /** What is not a flag, in order. */
  words: readonly string[];
  on(flag: string): boolean;
  value(flag: string): string | undefined;
  values(flag: string): readonly string[];
}

interface Parsing {
  flags: readonly Flag[];
  tokens: string[];
  words: string[];
  given: Map<string, string[]>;
  /** What to add where no known flag is near. */
  see: string;
}

/**
 * Splits a command line by a table of flags: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-ab`; `--` ends
 * the flags. With `stopAtWord` that word (1 is the first) and all after it are left as words. Throws usage failures,
 * which name the help of `command`.
 */
export function parseArguments(
  tokens: readonly string[],
  flags: readonly Flag[],
  { stopAtWord = Number.POSITIVE_INFINITY, command }: { stopAtWord?: number; command?: string } = {},
): Arguments {
  const parsing: Parsing = { flags, tokens: [...tokens], words: [], given: new Map(), see: "" };
  if (command !== undefined) parsing.see = `; see: berth ${command} --help`;
  for (let token = parsing.tokens.shift(); token !== undefined; token = parsing.tokens.shift()) {
    if (token === "--") parsing.words.push(...parsing.tokens.splice(0));
    else if (token.startsWith("--")) readLong(token.slice(2), parsing);
    // No flag is a digit: -1 is a number, which the command refuses where it is none that it can use.
    else if (/^-\D/.test(token)) readShort(token.slice(1), parsing);
    else {
      parsing.words.push(token);
      if (parsing.words.length >= stopAtWord) parsing.words.push(...parsing.tokens.splice(0));
    }
  }
  const { words, given } = parsing;
  return {
    words,
    on: (flag) => given.get(flag)?.at(-1) === "true",
    value: (flag) => given.get(flag)?.at(-1),
    values: (flag) => given.get(flag) ?? [],
  };
}

function readLong(text: string, parsing: Parsing): void {
  const equals = text.indexOf("=");
  const name = equals === -1 ? text : text.slice(0, equals);
  const flag = parsing.flags.find((candidate) => candidate.name === name || candidate.aliases?.includes(name));
  if (flag === undefined) {
    const known = parsing.flags.flatMap((candidate) => [candidate.name, ...(candidate.aliases ?? [])]);
    throw usageFailure(`unknown flag "--${name}"${didYouMean(name, known, "--") || parsing.see}`);
  }
  const inline = equals === -1 ? undefined : text.slice(equals + 1);
  record(flag, inline ?? (flag.value === undefined ? "true" : nextValue(`--${name}`, parsing)), parsing);
}

function readShort(letters: string, parsing: Parsing): void {
  const letter = letters.charAt(0);
  const rest = letters.slice(1);
  const flag = parsing.flags.find((candidate) => candidate.short === letter);
  if (flag === undefined) throw usageFailure(`unknown flag "-${letter}"${parsing.see}`);
  if (flag.value !== undefined) {
    record(flag, rest === "" ? nextValue(`-${letter}`, parsing) : rest.replace(/^=/, ""), parsing);
    return;
  }
  record(flag, "true", parsing);
  if (rest !== "") readShort(rest, parsing);
}

function nextValue(flag: string, { tokens }: Parsing): string {
  const token = tokens.shift();
  if (token !== undefined && (token === "-" || !token.startsWith("-"))) return token;
  throw usageFailure(`${flag} needs a value${token === undefined ? "" : `, and "${token}" is another flag`}`);
}

function record(flag: Flag, value: string, { given }: Parsing): void {
  if (flag.value === undefined && value !== "true" && value !== "false") {
    throw usageFailure(`--${flag.name} is a switch: it takes no value but true or false`);
  }
  const before = given.get(flag.name) ?? [];
  if (before.length > 0 && !flag.repeat) throw usageFailure(`--${flag.name} is given twice`);
  given.set(flag.name, [...before, value]);
}
