import type { Pointer } from "bun:ffi";
import { readFileSync, readlinkSync } from "node:fs";

/** `MADV_DONTNEED` of madvise(2). */
const dontNeed = 4;

/**
 * The parts of an executable that can be dropped from memory and read again from its file: they cannot be written, and no
 * page of them was ever changed, as pages are that a loader or the program itself changes before it locks them. `smaps` is
 * the text of `/proc/PID/smaps`. Source: proc(5).
 */
export function cleanCode(smaps: string, executable: string): { from: number; bytes: number }[] {
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((part) => {
    const [head = "", ...rows] = part.split("\n");
    const [, from = "", to = "", rights = "", path] = /^(\w+)-(\w+) (\S+) \S+ \S+ \d+ +(.+)$/.exec(head) ?? [];
    const isClean = ["Anonymous", "Swap"].every((name) => rows.some((row) => /^(\w+): +0 kB$/.exec(row)?.[1] === name));
    if (path !== executable || !/^r-[x-]p$/.test(rights) || !isClean) return [];
    const start = Number.parseInt(from, 16);
    return [{ from: start, bytes: Number.parseInt(to, 16) - start }];
  });
}

/**
 * Drops the program's own code from its memory; what runs next comes back from the kernel's cache of files, in microseconds.
 * A start runs a third of the code of Bun once. Fails where there are no native calls (without a JIT) or no such files.
 */
export function createDropCode(): () => Promise<void> {
  let opened: ReturnType<typeof open> | undefined;
  return async () => {
    opened ??= open();
    const madvise = await opened;
    const ranges = cleanCode(readFileSync("/proc/self/smaps", "utf8"), readlinkSync("/proc/self/exe"));
    for (const { from, bytes } of ranges) madvise(from as Pointer, bytes, dontNeed);
  };
}

/** What of this process's memory are files. Source: proc(5), statm, whose numbers are pages. */
export function codeBytes(): number {
  const [, resident = 1, ofFiles = 0] = readFileSync("/proc/self/statm", "latin1").split(" ").map(Number);
  return (process.memoryUsage.rss() * ofFiles) / resident;
}

async function open() {
  const { dlopen } = await import("bun:ffi");
  return dlopen("libc.so.6", { madvise: { args: ["ptr", "u64", "int"], returns: "int" } }).symbols.madvise;
}
