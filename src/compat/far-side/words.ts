import { Failure } from "../../base/wire/failure.ts";

/** A flag of that client: its names, and whether a value follows. */
export interface WrittenFlag {
  names: readonly string[];
  takes?: boolean;
}

export interface Written {
  words: string[];
  /** By the first name of the flag; switches have the value "true". */
  values(flag: string): string[];
  value(flag: string): string | undefined;
  on(flag: string): boolean;
}

/** Flags of every verb. */
export const everyFlag: readonly WrittenFlag[] = [
  { names: ["--output", "-o"], takes: true },
  { names: ["--controller-url"], takes: true },
  { names: ["--remote", "-r"], takes: true },
  { names: ["--help", "-h"] },
];

/** Where the command line of somebody else begins. */
export interface Foreign {
  /** With this word (1 is the first); all from there on is left as it is. */
  command?: number | undefined;
  /** The flag that stands for the first word. */
  first?: string | undefined;
}

/** Splits words as that client does: flags may stand anywhere, `--` ends them. */
export function readWords(
  tokens: readonly string[],
  flags: readonly WrittenFlag[],
  { command = Infinity, first }: Foreign = {},
): Written {
  const known = [...flags, ...everyFlag];
  const found = new Map<string, string[]>();
  const words: string[] = [];
  const rest = [...tokens];
  for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
    if (token === "--") {
      words.push(...rest.splice(0));
    } else if (token === "-" || !token.startsWith("-")) {
      words.push(token);
      const named = first !== undefined && found.has(first) ? 1 : 0;
      if (words.length + named >= command) words.push(...rest.splice(0));
    } else {
      const { name, inline, more } = split(token, known);
      const flag = known.find(({ names }) => names.includes(name));
      if (flag === undefined) throw new Failure("invalid", `unknown flag "${name}"`);
      if (more !== undefined) rest.unshift(more);
      const value = flag.takes === true ? (inline ?? rest.shift()) : (inline ?? "true");
      if (value === undefined) throw new Failure("invalid", `${name} needs a value`);
      const key = flag.names[0] ?? name;
      found.set(key, [...(found.get(key) ?? []), value]);
    }
  }
  return {
    words,
    values: (flag) => found.get(flag) ?? [],
    value: (flag) => found.get(flag)?.at(-1),
    on: (flag) => found.get(flag)?.at(-1) === "true",
  };
}

/** `--name=value`, `-nvalue`, and `-ab` for `-a -b`. */
function split(token: string, known: readonly WrittenFlag[]): { name: string; inline?: string; more?: string } {
  if (token.startsWith("--")) {
    const equals = token.indexOf("=");
    return equals === -1 ? { name: token } : { name: token.slice(0, equals), inline: token.slice(equals + 1) };
  }
  const name = token.slice(0, 2);
  const tail = token.slice(2);
  if (tail === "") return { name };
  const takes = known.find(({ names }) => names.includes(name))?.takes === true;
  return takes ? { name, inline: tail.replace(/^=/, "") } : { name, more: `-${tail}` };
}

export function tooMany(word: string | undefined): Failure {
  return new Failure("invalid", `"${word}" is one word too many`);
}
