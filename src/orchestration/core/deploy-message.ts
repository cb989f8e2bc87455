import { Failure } from "../../base/wire/failure.ts";

/** Who asked for a change. */
export interface Author {
  actor: string;
  /** Why, in their words. */
  message?: string | undefined;
}

const control = /\p{Cc}|\p{Zl}|\p{Zp}/u;

/** What the server itself says about a change, made to fit the rules of a message. */
export function ownMessage(text: string, charactersMax: number): string {
  const characters = [...text].map((character) => (control.test(character) ? " " : character));
  return characters.slice(0, charactersMax).join("").trim();
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
  // The list of releases has a row for each.
  if (control.test(message)) {
    throw new Failure("invalid", `${field}: it must be one line, without control characters`);
  }
  return message;
}
