import { constants, type Stats } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";

/**
 * Readies the files of a folder for a copy in one look at them, until `signal` aborts.
 *
 * `readSince`: restic reads those again that were changed since a time, whatever it knows of them. A program that writes to a
 * mapped file changes it without a new time, as long as the kernel has not written the page back: a copy that was made
 * meanwhile has the same time and size, and other content. Only their time of the last change of owner or mode becomes new.
 *
 * `flushSince`: what was written to those that were changed since a time is on the disk. From then on, the next write to one that
 * is mapped gives it a new time.
 */
export type Refresh = (
  folder: string,
  since: { readSince?: number | undefined; flushSince?: number | undefined },
  signal: AbortSignal,
) => Promise<void>;

export const refresh: Refresh = async (folder, { readSince = Infinity, flushSince = Infinity }, signal) => {
  const oldest = Math.min(readSince, flushSince);
  if (oldest === Infinity) return;
  const isSince = (at: number, since: number) => at >= Math.floor(since / 1_000) * 1_000;
  const work = async (own: string, { mtimeMs, mode }: Stats) => {
    if (isSince(mtimeMs, flushSince)) await written(own);
    if (isSince(mtimeMs, readSince)) await renewed(own, mode);
  };
  await eachChanged(folder, { since: oldest, signal }, work).catch((error: unknown) => {
    throw signal.aborted ? new Failure("unavailable", "it was interrupted") : error;
  });
};

/** Finds a file, and opens nothing: what an app put in its place meanwhile, such as a device, takes no notice. Source: open(2). */
const findsOnly = 0o10000000;

/** Files that were changed since a time, to the second. What goes away meanwhile is in no copy. */
async function eachChanged(
  folder: string,
  { since, signal }: { since: number; signal: AbortSignal },
  work: (own: string, there: Stats) => Promise<void>,
) {
  const find = ["find", "-H", folder, "-xdev", "-type", "f", "-newermt", `@${Math.floor(since / 1_000)}`, "-print0"];
  const child = Bun.spawn(find, { stdin: "ignore", stdout: "pipe", stderr: "ignore", signal });
  let rest = Buffer.alloc(0);
  for await (const chunk of child.stdout) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      signal.throwIfAborted();
      await found(rest.subarray(0, end), work).catch(() => undefined);
      rest = rest.subarray(end + 1);
    }
  }
  signal.throwIfAborted();
}

/** The path is bytes: a name need not be UTF-8. An app may have put something else in the place of the file. */
async function found(path: Buffer, work: (own: string, there: Stats) => Promise<void>): Promise<void> {
  const file = await open(path, findsOnly | constants.O_NOFOLLOW);
  try {
    const there = await file.stat();
    if (there.isFile()) await work(`/proc/self/fd/${file.fd}`, there);
  } finally {
    await file.close();
  }
}

/** Giving a file the mode that it has changes nothing but its ctime, which restic compares. */
const renewed = (own: string, mode: number) => chmod(own, mode & 0o7777);

async function written(own: string): Promise<void> {
  const file = await open(own, constants.O_RDONLY);
  await file.datasync().finally(() => file.close());
}
