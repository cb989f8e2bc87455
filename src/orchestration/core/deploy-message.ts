import { Failure } from "../../base/wire/failure.ts";

/** Who asked for a change. */
export interface Author {
  actor: string;
  /** Why, in their words. */
  message?: string | undefined;
}

/**
 * What somebody wrote about a change, trimmed; undefined where that is nothing. Fails `invalid` where it is longer than
 * `charactersMax`, or not one line of text.
 */
export function deployMessage(text: string | undefined, charactersMax: number, field = "message"): string | undefined {
  const message = text?.trim() ?? "";
  if (message === "") return undefined;
  const characters = [...message].length;
  if (characters > charactersMax) {
    throw new Failure("invalid", `${field}: it has ${characters} characters; at most ${charactersMax} are allowed`);
  }
  // Whoever lists releases sees a row for each.
  if (/\p{Cc}|\p{Zl}|\p{Zp}/u.test(message)) {
    throw new Failure("invalid", `${field}: it must be one line, without control characters`);
  }
  return message;
}
