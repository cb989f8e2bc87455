import type { MissingLogLines } from "./log-search.ts";

/** One sentence about lines that cannot be read. `time` shows a time. */
export function missingText({ lines, from, until }: MissingLogLines, time = (at: string) => at): string {
  const count = lines === undefined ? "lines" : `${lines} ${lines === 1 ? "line" : "lines"}`;
  return `${count} between ${time(from)} and ${time(until)} cannot be read: the log file is damaged there`;
}
