import type { Context } from "./command.ts";
import { usageFailure } from "../basics/failures.ts";

/** `KEY=VALUE` words; one value can be `-`, and comes from stdin. `after` is the word before them. */
export async function readPairs(
  words: readonly string[],
  after: string,
  { stdin }: Pick<Context, "stdin">,
): Promise<Record<string, string>> {
  const pairs = words.map((word, index) => {
    const equals = word.indexOf("=");
    // The word is not repeated: it may be a secret that lost its key.
    if (equals < 1) throw usageFailure(`word ${index + 1} after ${after} is not KEY=VALUE`);
    return [word.slice(0, equals), word.slice(equals + 1)] as const;
  });
  // A key named __proto__ is one too: for the server to refuse.
  const variables: Record<string, string> = Object.fromEntries(pairs);
  const fromStdin = Object.keys(variables).filter((key) => variables[key] === "-");
  if (fromStdin.length > 1) throw usageFailure(`stdin holds one value: ${fromStdin.join(" and ")} cannot both be -`);
  for (const key of fromStdin) variables[key] = (await stdin()).replace(/\r?\n$/, "");
  return variables;
}
