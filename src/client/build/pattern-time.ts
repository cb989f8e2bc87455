import type { IgnoreRules } from "../../base/pure/git-rules.ts";
import { CommandFailure } from "../basics/failures.ts";

/** What one path may cost in the worst case, and all of them together in fact. */
const pathMsMax = 1_000;
const allMsMax = 20_000;

/** Measured: what the expressions that the packages make of a pattern take for each way to divide a path. */
const folderMs = 0.0015;
const starMs = 0.000_01;

interface Pattern {
  line: number;
  text: string;
  /** Groups of `**`, each of which can stand for many folders. */
  folders: number;
  /** Single stars of each part between slashes that has several. */
  stars: readonly number[];
}

/**
 * Rules whose patterns cannot keep the client busy: matching tries every way to divide a path among the stars of a pattern,
 * so a file of a stranger could make it take for ever. Ordinary patterns have few stars, and ordinary paths are short.
 * Fails before a path is matched that may take seconds, or once all have taken long, and names the line.
 */
export function inTime(rules: IgnoreRules, text: string, name: string): IgnoreRules {
  const slow = patternsOf(text);
  if (slow.length === 0) return rules;
  let spentMs = 0;
  return {
    ...rules,
    leavesOut(path) {
      const worst = slow.map((pattern) => ({ pattern, ms: costMs(pattern, path) })).toSorted((a, b) => b.ms - a.ms)[0];
      if (worst !== undefined && (worst.ms > pathMsMax || spentMs > allMsMax)) throw tooSlow(worst.pattern, path, name);
      const began = performance.now();
      const leaves = rules.leavesOut(path);
      spentMs += performance.now() - began;
      return leaves;
    },
  };
}

function costMs({ folders, stars }: Pattern, path: string): number {
  const parts = path.split("/");
  const longest = Math.max(...parts.map((part) => part.length));
  const inParts = stars.reduce((product, count) => product * ways(longest, count), 1);
  return ways(parts.length, folders) * Math.max(folderMs, inParts * starMs);
}

function tooSlow({ line, text }: Pattern, path: string, name: string): CommandFailure {
  const pattern = JSON.stringify(shortened(text));
  return new CommandFailure(
    `${name}:${line}: the pattern ${pattern} has too many stars to match ${shortened(path)}\n  write it with fewer, or as several patterns`,
  );
}

/** One star takes a moment whatever the path: only patterns with more are looked at. */
function patternsOf(text: string): Pattern[] {
  return text.split("\n").flatMap((line, index): Pattern[] => {
    const parts = line.trim().split("/");
    const folders = parts.filter((part) => part.includes("**")).length;
    const stars = parts.map((part) => part.split(/\*+/).length - 1).filter((count) => count > 1);
    return folders > 1 || stars.length > 0 ? [{ line: index + 1, text: line.trim(), folders, stars }] : [];
  });
}

/** In how many ways a number of stars divide a length. */
function ways(length: number, stars: number): number {
  let result = 1;
  for (let star = 0; star < stars; star++) result *= (length + stars - star) / (star + 1);
  return result;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
