import { createReadStream, type Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { type Pack, pack } from "tar-stream";
import { CommandFailure } from "../basics/failures.ts";
import { drained } from "../../base/words/drained.ts";

export interface CopyLimits {
  filesMax: number;
  bytesMax: number;
}

/** How far a copy is: files and links, and bytes of their content. */
export interface CopyCount {
  files: number;
  bytes: number;
}

interface Sending {
  /** On this machine; a link here is followed, those below are not. */
  path: string;
  /** What it is called in the archive. */
  name: string;
  limits: CopyLimits;
  /** What is not copied, and why: sockets, devices and the like. */
  onLeftOut(path: string, why: string): void;
  onProgress(count: CopyCount): void;
}

interface Progress extends Sending {
  archive: Pack;
  count: CopyCount;
  /** Size of all files so far, as large as they were when they were looked at. */
  plannedBytes: number;
}

/** A file or folder of this machine as a tar archive. Throws beyond `limits`, and for what cannot be read. */
export function archiveOf(sending: Sending, stats: Stats): AsyncIterable<Uint8Array> {
  const archive = pack();
  const progress: Progress = { ...sending, archive, count: { files: 0, bytes: 0 }, plannedBytes: 0 };
  void add(progress, { path: sending.path, name: sending.name, stats })
    .then(() => archive.finalize())
    .catch((error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))));
  return archive as unknown as AsyncIterable<Uint8Array>;
}

interface Item {
  path: string;
  name: string;
  stats: Stats;
}

async function add(progress: Progress, item: Item): Promise<void> {
  const { limits, count } = progress;
  const { path, name, stats } = item;
  if (stats.isDirectory()) return addFolder(progress, item);
  if (!stats.isFile() && !stats.isSymbolicLink()) return progress.onLeftOut(name, "is neither a file nor a folder");
  count.files += 1;
  progress.plannedBytes += stats.isFile() ? stats.size : 0;
  if (count.files > limits.filesMax) throw new CommandFailure(`a copy has at most ${limits.filesMax} files`);
  if (progress.plannedBytes > limits.bytesMax) throw new CommandFailure(`a copy has at most ${limits.bytesMax} bytes`);
  if (stats.isFile()) await addFile(progress, item);
  else await write(progress, { ...item, type: "symlink", linkname: await readlink(path) });
  progress.onProgress(count);
}

async function addFolder(progress: Progress, item: Item): Promise<void> {
  await write(progress, { ...item, type: "directory" });
  for (const child of (await readdir(item.path)).sort()) {
    const path = join(item.path, child);
    await add(progress, { path, name: `${item.name}/${child}`, stats: await lstat(path) });
  }
}

interface Header extends Item {
  type: "symlink" | "directory";
  linkname?: string;
}

function write({ archive }: Progress, { name, stats, type, linkname }: Header): Promise<void> {
  const link = linkname === undefined ? {} : { linkname };
  return written((done) => archive.entry({ ...headerOf({ name, stats }), type, ...link }, done));
}

async function addFile(progress: Progress, { path, name, stats }: Item): Promise<void> {
  const { archive, count, onProgress } = progress;
  const header = { ...headerOf({ name, stats }), type: "file" as const, size: stats.size };
  if (stats.size === 0) return written((done) => archive.entry(header, "", done));
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => undefined);
  const sink = archive.entry(header, (error) => (error ? ended.reject(error) : ended.resolve()));
  // It is heard through the archive.
  sink.on("error", () => undefined);
  let read = 0;
  // A file that grows meanwhile is sent as long as it was.
  for await (const part of createReadStream(path, { end: stats.size - 1 }) as AsyncIterable<Uint8Array>) {
    read += part.length;
    count.bytes += part.length;
    onProgress(count);
    if (!sink.write(part)) await drained(sink);
  }
  if (read < stats.size) throw new CommandFailure(`"${path}" became shorter while it was copied: try again`);
  sink.end(undefined);
  await ended.promise;
}

/** The owner is decided where it is unpacked. */
function headerOf({ name, stats }: Pick<Item, "name" | "stats">) {
  return { name, mode: stats.mode & 0o777, mtime: stats.mtime, uid: 0, gid: 0 };
}

function written(write: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    write((error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
}
