import type { Token } from "./lexer.ts";

/** Marks that end a value: a `-` after one of them is a subtraction. */
const valueEnds = [")", "]", "}"];

/**
 * What stands between a token and the one before it on its line, told of one token after the other: a blank or nothing.
 * What comes before the first token of a line is not for this to say.
 */
export function createSpacing(): (token: Token) => string {
  /** For each open bracket, the number of conditions whose ":" is still to come. */
  const conditions = [0];
  let before: Token | undefined;
  /** Like `before`, without comments. */
  let meant: Token | undefined;
  let wasSign = false;
  return (token) => {
    const isSign = isMark(token, "-", "!") && !endsValue(meant);
    const isColonOfKey = isMark(token, ":") && (conditions.at(-1) ?? 0) === 0;
    count(conditions, token);
    const tight = isTight(before, token) || wasSign || isColonOfKey;
    if (token.kind !== "comment") {
      meant = token;
      wasSign = isSign;
    }
    before = token;
    return tight ? "" : " ";
  };
}

function isTight(before: Token | undefined, token: Token): boolean {
  if (before === undefined || isMark(before, "(", "[") || isMark(token, ")", "]", ",")) return true;
  if (isMark(before, "{") && isMark(token, "}")) return true;
  return isMark(token, "(") && before.kind === "word";
}

function count(conditions: number[], token: Token): void {
  const last = conditions.length - 1;
  if (isMark(token, "{", "[", "(")) conditions.push(0);
  else if (isMark(token, "}", "]", ")")) conditions.pop();
  else if (isMark(token, "?")) conditions[last] = (conditions[last] ?? 0) + 1;
  else if (isMark(token, ":")) conditions[last] = Math.max(0, (conditions[last] ?? 0) - 1);
}

function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  return token.kind === "mark" ? valueEnds.includes(token.text) : true;
}

function isMark(token: Token, ...texts: string[]): boolean {
  return token.kind === "mark" && texts.includes(token.text);
}
