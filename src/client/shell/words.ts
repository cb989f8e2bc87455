import type { Arguments } from "../basics/arguments.ts";
import type { Context } from "./command.ts";
import { usageFailure } from "../basics/failures.ts";
import { didYouMean } from "../basics/suggest.ts";

/** The words of a command; `hint` says what it takes. */
type Words = Pick<Arguments, "words">;

/** The only word of a command that may have one. */
export function optionalWord({ words: [word, ...more] }: Words, hint?: string): string | undefined {
  noWords({ words: more }, hint);
  return word;
}

/** Reads `SCOPE/NAME` or `SCOPE`. Both are undefined if no word is given. */
export function scopeOrApp(text: string | undefined): { scope?: string | undefined; name?: string | undefined } {
  const [scope, name, ...more] = text?.split("/") ?? [];
  if (scope === "" || name === "" || more.length > 0) throw usageFailure(`"${text}" is not SCOPE/NAME or SCOPE`);
  return { scope, name };
}

/** The only word of a command; `what` says what is missing. */
export function oneWord(args: Words, what: string): string {
  const word = optionalWord(args, `say ${what}`);
  if (word === undefined || word === "") throw usageFailure(`say ${what}`);
  return word;
}

export function noWords({ words: [word] }: Words, hint?: string): void {
  if (word === undefined) return;
  throw usageFailure(`"${word}" is one word too many${hint === undefined ? "" : `: ${hint}`}`);
}

/** Words of a shell that every command with such an action takes. */
export const shortWords: ReadonlyMap<string | undefined, string> = new Map([
  ["ls", "list"],
  ["rm", "remove"],
]);

/** What the verb of a command does, and the words after it; `list` without one. */
export function verbOf<A>(
  actions: Readonly<Record<string, A>>,
  command: string,
  { words: [verb = "list", ...words] }: Words,
) {
  const named = (word: string | undefined) => Object.entries(actions).find(([name]) => name === word)?.[1];
  const action = named(verb) ?? named(shortWords.get(verb));
  if (action !== undefined) return { action, words };
  throw usageFailure(`unknown command "${command} ${verb}"${didYouMean(verb, Object.keys(actions))}`);
}

/** Values of a flag that may be repeated and may hold commas; undefined where it was not given. */
export function listed(args: Arguments, flag: string): string[] | undefined {
  const given = args.values(flag).flatMap((text) => text.split(",").map((word) => word.trim()));
  return given.length === 0 ? undefined : given.filter((word) => word !== "");
}

/** A number that a flag has; undefined where it was not given. */
export function numberOf(args: Arguments, flag: string): number | undefined {
  const text = args.value(flag);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw usageFailure(`--${flag} "${text}" is not a number`);
  return value;
}

/** A time that a flag has, as the server takes it. One without a zone is of the client's machine; a day is meant to its end. */
export function timeOf(args: Arguments, flag: string): string | undefined {
  const text = args.value(flag);
  if (text === undefined) return undefined;
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?(?:\.\d+)?) ?(Z|[+-]\d\d:\d\d)?)?$/i.exec(text.trim());
  const [, day = "", time = "23:59:59", zone = ""] = form ?? [];
  const at = form === null ? Number.NaN : Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(at)) throw usageFailure(`--${flag}: "${text}" is not a time; write it like 2026-11-28 14:05`);
  return new Date(at).toISOString();
}

/** A secret of a flag; `-` reads it from stdin, so that it is in no list of processes. */
export async function secretOf(context: Context, text: string | undefined): Promise<string | undefined> {
  if (text !== "-") return text;
  const read = (await context.stdin()).trim();
  if (read === "") throw usageFailure("stdin is empty: write the secret to it");
  return read;
}

/** Left out of a body where it is undefined. */
export function present<T extends Record<string, unknown>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
