import { statSync } from "node:fs";
import { join } from "node:path";
import { gitRules, type IgnoreRules } from "../../base/pure/git-rules.ts";
import { namedFiles } from "../../base/pure/left-out.ts";
import { readBounded } from "../basics/read-bounded.ts";
import { inTime } from "./pattern-time.ts";
import dockerignore from "@balena/dockerignore";
import { CommandFailure } from "../basics/failures.ts";

/** The files of a folder that say what a build does not get: its `.dockerignore`, or else those of git, and `.berthignore`. */
export interface IgnoreFiles {
  /** The file that has the rules; undefined: there is none. */
  source: string | undefined;
  /** Rules that hold for the whole folder. */
  fixed: readonly IgnoreRules[];
  /** What looks like a secret and is sent. */
  named: ReadonlySet<string>;
  /** Rules of the `.gitignore` of the folder `below`, which ends in a slash, and of those `around` it. */
  gitIn(below: string, around: IgnoreRules | undefined): IgnoreRules | undefined;
}

interface Reading {
  dockerName: string;
  /** Size of one file. */
  textBytesMax: number;
}

/** Fails for a file of rules that is too large, or whose patterns would take too long. */
export function readIgnoreFiles(root: string, { dockerName, textBytesMax }: Reading): IgnoreFiles {
  const textOf = (name: string) => {
    const path = join(root, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    return new TextDecoder().decode(readBounded(path, path, { bytesMax: textBytesMax }));
  };
  const docker = textOf(dockerName);
  const own = textOf(".berthignore");
  return {
    source: docker !== undefined ? dockerName : textOf(".gitignore") && ".gitignore",
    fixed: [
      ...(docker === undefined ? [] : [inTime(dockerRules(docker, dockerName), docker, dockerName)]),
      ...(own === undefined ? [] : [inTime(gitRules(own, ""), own, ".berthignore")]),
    ],
    named: namedFiles(own ?? ""),
    gitIn(below, around) {
      const git = docker === undefined ? textOf(`${below}.gitignore`) : undefined;
      return git === undefined ? around : inTime(gitRules(git, below, around), git, `${below}.gitignore`);
    },
  };
}

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
