import { usage } from "../kit.ts";

export interface Arguments {
  words: string[];
  /** Flags that take a value. */
  values: Readonly<Record<string, string>>;
  /** Flags that are there or not. */
  on: ReadonlySet<string>;
  /** What follows `--`, as it is. */
  rest: string[];
}

export interface Flags {
  values?: readonly string[];
  switches?: readonly string[];
  /** Short form → flag; `-y` is always `--yes`. */
  short?: Readonly<Record<string, string>>;
}

/** Reads `--flag value`, `--flag=value`, `-f value`, switches and words; fails naming what it does not know. */
export function parseArguments(args: readonly string[], flags: Flags): Arguments {
  const parsed = { words: [] as string[], values: {} as Record<string, string>, on: new Set<string>() };
  const { values = [], switches = [], short = {} } = flags;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") return { ...parsed, rest: args.slice(at + 1) };
    if (!arg.startsWith("-") || arg === "-") {
      parsed.words.push(arg);
      continue;
    }
    const [, written = "", inline] = /^-{1,2}([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    const name = arg.startsWith("--") ? written : ({ y: "yes", ...short }[written] ?? "");
    if (switches.includes(name) && inline === undefined) parsed.on.add(name);
    else if (values.includes(name)) {
      const value = inline ?? args[++at];
      if (value === undefined) throw usage(`--${name} needs a value`);
      parsed.values[name] = value;
    } else {
      const known = [...values, ...switches].map((flag) => `--${flag}`).join(", ");
      throw usage(`unknown flag "${arg}"${known === "" ? "" : `; there are: ${known}`}`);
    }
  }
  return { ...parsed, rest: [] };
}

export interface Reference {
  scope: string;
  name: string;
}

export function referenceText({ scope, name }: Reference): string {
  return `${scope}/${name}`;
}

/** `SCOPE/NAME`; `what` is named when it is missing or something else. */
export function readReference(word: string | undefined, what: string): Reference {
  const [, scope, name] = /^([a-z0-9][a-z0-9-]*)\/([a-z0-9][a-z0-9._-]*)$/.exec(word ?? "") ?? [];
  if (scope !== undefined && name !== undefined) return { scope, name };
  if (word === undefined) throw usage(`say which ${what}: SCOPE/NAME`);
  throw usage(`"${word}" names no ${what}; write SCOPE/NAME`);
}

/** Refuses words beyond those that the command knows. */
export function noMoreThan(words: readonly string[], most: number): void {
  if (words.length > most) throw usage(`"${words[most]}" is one word too many`);
}

/** A whole number that is not negative, from a flag; undefined when it was not given. */
export function wholeNumber(value: string | undefined, flag: string): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw usage(`--${flag} needs a whole number, not "${value}"`);
}
