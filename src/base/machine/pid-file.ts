import { readFileSync } from "node:fs";

/** The number in a pid file: 0 while the file is empty, undefined where there is none or it holds something else. */
export function pidIn(file: string): number | undefined {
  const text = textOf(file);
  const pid = Number(text);
  return text === undefined || !Number.isInteger(pid) || pid === 1 || pid < 0 ? undefined : pid;
}

/**
 * The words of the command line of a process: none while it starts a program, undefined once it is gone. A pid file can
 * outlive its process, and the number may be another program's by now: only the words tell.
 */
export function wordsOf(pid: number): readonly string[] | undefined {
  const text = textOf(`/proc/${pid}/cmdline`);
  return text === "" ? [] : text?.split("\0");
}

/** Whether the process of a pid file runs with all of these words; its pid if so. */
export function pidWith(file: string, words: readonly string[]): number | undefined {
  const pid = pidIn(file);
  if (pid === undefined || pid === 0) return undefined;
  const found = wordsOf(pid) ?? [];
  return words.every((word) => found.includes(word)) ? pid : undefined;
}

/** Read at once, as the kernel has it in memory: waiting for a thread to read it costs several times as much. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
