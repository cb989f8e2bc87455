import type { Command } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { globalFlags } from "../shell/help.ts";
import { shortWords } from "../shell/words.ts";
import { didYouMean } from "../basics/suggest.ts";

/** The narrowest command that the words after `command` name, and the words after it. Fails for a word that names none. */
export function narrowed(command: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  return narrow(command, words, command.name);
}

function narrow(command: Command, words: readonly string[], path: string): ReturnType<typeof narrowed> {
  const before = words.slice(0, globalFlagsAhead(words));
  const [word, ...rest] = words.slice(before.length);
  if (command.commands === undefined || word === undefined || word.startsWith("-")) return { command, rest: words };
  const named = (wanted: string | undefined) => command.commands?.find(({ name }) => name === wanted);
  const inner = named(word) ?? named(shortWords.get(word));
  if (inner !== undefined) return narrow(inner, [...before, ...rest], `${path} ${inner.name}`);
  // A group that lists takes an app as well: `berth traces shop/web`.
  if (command.lists !== undefined && word.includes("/")) return { command, rest: words };
  const known = command.commands.map(({ name }) => name);
  throw usageFailure(
    `unknown command "${path} ${word}"${didYouMean(word, known) || `; there are ${known.join(", ")}`}`,
  );
}

/** How many words at the front are flags that every command knows, and their values. */
function globalFlagsAhead(words: readonly string[]): number {
  let count = 0;
  for (;;) {
    const text = words[count] ?? "";
    const flag = globalFlags.find(({ name, short }) => text.split("=")[0] === `--${name}` || text === `-${short}`);
    if (flag === undefined) return count;
    count += flag.value === undefined || text.includes("=") ? 1 : 2;
  }
}
