import dockerignore from "@balena/dockerignore";
import type { IgnoreRules } from "../../base/pure/git-rules.ts";
import { CommandFailure } from "../basics/failures.ts";

/**
 * The rules of a `.dockerignore`, whatever its name: from the root of the folder, and what is left out may come back. Fails
 * for a line that is not a pattern.
 */
export function dockerRules(text: string, name: string): IgnoreRules {
  const lines = text.split("\n");
  const broken = lines.findIndex((line) => !isPattern(line));
  if (broken >= 0) {
    const line = JSON.stringify(lines[broken]?.trim());
    throw new CommandFailure(`${name}:${broken + 1}: ${line} is not a pattern: check its brackets`);
  }
  const rules = dockerignore({ ignorecase: false }).add(text);
  return {
    leavesOut: (path) => rules.ignores(path.replace(/\/$/, "")),
    prunes: !lines.some((line) => line.trimStart().startsWith("!")),
  };
}

/** The package makes a regular expression of a line when it is used first. */
function isPattern(line: string): boolean {
  try {
    dockerignore({ ignorecase: false }).add(line).ignores("any/path");
    return true;
  } catch {
    return false;
  }
}
