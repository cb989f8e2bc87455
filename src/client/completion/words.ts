import { coreKinds } from "../../orchestration/api/manifest.ts";
import type { Flag } from "../basics/arguments.ts";
import type { Command } from "../shell/command.ts";
import { formatsOf, globalFlags } from "../shell/help.ts";
import { type Place, placesAfter } from "./usage.ts";

/** What a command line is so far, without its last word. */
interface Line {
  /** Words that are not flags. */
  words: string[];
  /** Whose value comes next. */
  awaiting: Flag | undefined;
  /** After `--`: somebody else's command line. */
  foreign: boolean;
}

/** The first word of a line that is not a flag; undefined while it is being written. */
export function verbOf(before: readonly string[]): string | undefined {
  return lineOf(before, globalFlags).words[0];
}

/** What may come next in the line of a command whose words before the one that is being written are `before`. */
export function nextPlaces(command: Command, before: readonly string[], current: string): Place[] {
  const { awaiting, words, foreign } = lineOf(before, [...command.flags, ...globalFlags]);
  if (foreign) return [];
  if (awaiting?.name === "output") return [{ words: formatsOf(command), live: undefined }];
  if (awaiting !== undefined) return [valuePlace(awaiting)];
  if (current.startsWith("-")) {
    const flags = [...command.flags, ...globalFlags];
    return [{ words: flags.map(({ name }) => `--${name}`), live: undefined }];
  }
  const [, ...given] = words;
  return placesOf(command, given);
}

/** A group of commands offers the next one; a command offers what its usage says. */
function placesOf(command: Command, given: readonly string[]): Place[] {
  const [word, ...rest] = given;
  if (command.commands !== undefined) {
    const inner = command.commands.find(({ name }) => name === word);
    if (inner !== undefined) return placesOf(inner, rest);
    return word === undefined ? [{ words: command.commands.map(({ name }) => name), live: undefined }] : [];
  }
  return command.usage.flatMap((form) => {
    const [, ownName = command.name] = new RegExp(`^(.*?\\b${command.name})(?: |$)`).exec(form) ?? [];
    return placesAfter(form.slice(ownName.length).trim(), given);
  });
}

function lineOf(before: readonly string[], flags: readonly Flag[]): Line {
  const line: Line = { words: [], awaiting: undefined, foreign: false };
  for (const word of before) {
    if (line.foreign) continue;
    if (line.awaiting !== undefined) line.awaiting = undefined;
    else if (word === "--") line.foreign = true;
    else if (word.startsWith("-") && word !== "-") line.awaiting = awaitingAfter(word, flags);
    else line.words.push(word);
  }
  return line;
}

function awaitingAfter(word: string, flags: readonly Flag[]): Flag | undefined {
  const flag = flags.find(({ name, short, aliases = [] }) => {
    return [name, ...aliases].some((one) => word === `--${one}`) || (short !== undefined && word === `-${short}`);
  });
  return flag?.value === undefined ? undefined : flag;
}

/** Files are the shell's own business. */
function valuePlace({ name }: Flag): Place {
  if (name === "remote") return { words: [], live: "remotes" };
  if (name === "kind") return { words: coreKinds, live: undefined };
  return { words: [], live: undefined };
}
