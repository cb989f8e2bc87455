import type { Problem } from "../../base/wire/failure.ts";
import { childPath } from "../../base/pure/path.ts";

/** One `docker run` flag as written, with the place it was written at. */
interface OptionToken {
  /** With its dashes: `--shm-size`, `-u`. */
  flag: string;
  /** Undefined when the flag stands alone. */
  value: string | undefined;
  path: string;
}

/**
 * Flags out of the entries of `docker_options`: `--flag=value` or `--flag value` in one entry, or flag and value in
 * two. `isSwitch` says which flags take no value.
 */
export function optionTokens(
  entries: readonly string[],
  path: string,
  isSwitch: (flag: string) => boolean,
): { tokens: OptionToken[]; problems: Problem[] } {
  const tokens: OptionToken[] = [];
  const problems: Problem[] = [];
  let waiting: OptionToken | undefined;
  entries.forEach((entry, index) => {
    const entryPath = childPath(path, index);
    if (waiting !== undefined) {
      waiting.value = entry;
      waiting = undefined;
      return;
    }
    if (!entry.startsWith("-")) {
      problems.push({ path: entryPath, message: `"${entry}" is not a flag; write "--flag=value"` });
      return;
    }
    const token = splitEntry(entry.trim(), entryPath);
    tokens.push(token);
    if (token.value === undefined && !isSwitch(token.flag)) waiting = token;
  });
  return { tokens, problems };
}

function splitEntry(entry: string, path: string): OptionToken {
  const match = /^(-[^\s=]*)(?:=|\s+)(.*)$/s.exec(entry);
  if (match === null) return { flag: entry, value: undefined, path };
  return { flag: match[1] ?? entry, value: unquote(match[2] ?? ""), path };
}

function unquote(value: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(value);
  return quoted?.[2] ?? value;
}
