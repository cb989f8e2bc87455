/** What may stand in one place of a command line. */
export interface Place {
  /** Words to choose from. */
  words: readonly string[];
  /** Names that the server or the file of remotes has, or the kinds of manifests. */
  live: "apps" | "scopes and apps" | "kinds" | "remotes" | undefined;
}

interface Token {
  text: string;
  optional: boolean;
  repeated: boolean;
}

/** Everything that may stand after `given` in one form of a usage, such as `get [KIND] [SCOPE[/NAME]]` after its verb. */
export function placesAfter(form: string, given: readonly string[]): Place[] {
  return next(tokensOf(form), given);
}

/** Flags stand anywhere and have their own table; what follows `--` belongs to somebody else. */
function tokensOf(form: string): Token[] {
  const [own = ""] = form.split(/ -- /);
  const plain = own.replaceAll(/ \[-[^\]]*\]…?/g, "").replaceAll(/ --?[a-z][a-z-]*(?: [A-Z]\S*)?/g, "");
  return plain
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => {
      const repeated = word.includes("…");
      const optional = /^\[.*\]…?$/.test(word);
      const bare = word.replaceAll("…", "");
      return { text: optional ? bare.slice(1, -1) : bare, optional, repeated };
    });
}

function next(tokens: readonly Token[], given: readonly string[]): Place[] {
  const [token, ...rest] = tokens;
  if (token === undefined) return [];
  const skipped = token.optional ? next(rest, given) : [];
  const [word, ...more] = given;
  if (word === undefined) return [placeOf(token.text), ...skipped];
  if (!matches(token.text, word)) return skipped;
  return [...next(rest, more), ...(token.repeated ? next(tokens, more) : []), ...skipped];
}

const literal = /^[a-z][a-z-]*(?:\|[a-z][a-z-]*)*$/;

function matches(text: string, word: string): boolean {
  return !literal.test(text) || text.split("|").includes(word);
}

function placeOf(text: string): Place {
  if (literal.test(text)) return { words: text.split("|"), live: undefined };
  if (text === "KIND") return { words: [], live: "kinds" };
  if (/^(?:REF|SCOPE|SCOPE\[\/NAME.*)$/.test(text)) return { words: [], live: "scopes and apps" };
  return { words: [], live: /^(?:KIND\/)?SCOPE\/NAME|^APP$/.test(text) ? "apps" : undefined };
}
