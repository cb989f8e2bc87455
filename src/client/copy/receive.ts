import { constants, type Stats } from "node:fs";
import { copyFile, lstat, mkdir, open, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { extract, type Header } from "tar-stream";
import { linkProblem, pathProblem } from "../../base/pure/source-tree.ts";
import { CommandFailure } from "../basics/failures.ts";
import type { CopyCount, CopyLimits } from "./send.ts";

interface Receiving {
  /** What the first name of every path of the archive becomes here; its folder is there. */
  target: string;
  limits: CopyLimits;
  /** What is not copied, and why. */
  onLeftOut(path: string, why: string): void;
  onProgress(count: CopyCount): void;
}

interface Progress extends Receiving {
  count: CopyCount;
  /** Folders that are known to be folders, and no links. */
  safe: Set<string>;
}

/**
 * Unpacks a tar archive from a pod, which is not trusted: nothing is written outside of `target` or through a link, a
 * link that leads out of it is left out, and so is what is neither a file, a folder nor a link.
 */
export async function unpack(archive: AsyncIterable<Uint8Array>, receiving: Receiving): Promise<CopyCount> {
  const progress: Progress = { ...receiving, count: { files: 0, bytes: 0 }, safe: new Set() };
  for await (const { header, content, skip } of entriesOf(archive)) {
    await place(progress, header, content);
    skip();
  }
  return progress.count;
}

/** The content of the file that a tar archive holds. */
export async function unpackFile(
  archive: AsyncIterable<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  for await (const { content } of entriesOf(archive)) for await (const part of content) await write(part);
}

async function* entriesOf(archive: AsyncIterable<Uint8Array>) {
  const source = Readable.from(archive, { objectMode: false });
  const entries = extract();
  source.on("error", (error) => entries.destroy(error));
  source.pipe(entries);
  try {
    for await (const entry of entries) {
      const content = entry as unknown as AsyncIterable<Uint8Array>;
      yield { header: entry.header, content, skip: () => entry.resume() };
    }
  } finally {
    source.destroy();
    entries.destroy();
  }
}

async function place(progress: Progress, header: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
  const whole = header.name.replace(/\/+$/, "");
  const problem = pathProblem(whole);
  if (problem !== undefined) return progress.onLeftOut(shown(header.name), problem);
  checkRoom(progress, header);
  const [, ...below] = whole.split("/");
  const path = join(progress.target, ...below);
  if (header.type === "directory") return makeFolder(progress, path);
  await makeFolder(progress, dirname(path), below.length === 0);
  if (header.type === "file" || header.type === "contiguous-file")
    return writeFile(progress, path, { header, content });
  if (header.type === "link") return copyLinked(progress, path, header);
  if (header.type !== "symlink") return progress.onLeftOut(shown(whole), `is a ${header.type}`);
  const target = header.linkname ?? "";
  const leads = linkProblem(below.join("/"), target);
  if (leads !== undefined || below.length === 0) {
    return progress.onLeftOut(shown(whole), `is a link that ${shown(leads ?? `leads to "${target}"`)}`);
  }
  await clear(path);
  await symlink(target, path);
  counted(progress, 1, 0);
}

function checkRoom({ count, limits }: Progress, { size = 0 }: Header): void {
  if (count.bytes + size > limits.bytesMax) throw new CommandFailure(`a copy has at most ${limits.bytesMax} bytes`);
  if (count.files >= limits.filesMax) throw new CommandFailure(`a copy has at most ${limits.filesMax} files`);
}

function counted({ count, onProgress }: Progress, files: number, bytes: number): void {
  count.files += files;
  count.bytes += bytes;
  onProgress(count);
}

/** Also the folders on the way from the target; a link in the place of one is refused. */
async function makeFolder(progress: Progress, path: string, isOutside = false): Promise<void> {
  if (isOutside || progress.safe.has(path)) return;
  if (path !== progress.target) await makeFolder(progress, dirname(path));
  const there = await look(path);
  if (there === undefined) await mkdir(path);
  else if (!there.isDirectory()) throw new CommandFailure(`"${path}" is there already, and is not a folder`);
  progress.safe.add(path);
}

async function writeFile(
  progress: Progress,
  path: string,
  { header, content }: { header: Header; content: AsyncIterable<Uint8Array> },
): Promise<void> {
  await clear(path);
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    for await (const part of content) {
      await file.writeFile(part);
      counted(progress, 0, part.length);
    }
    await file.chmod((header.mode ?? 0o644) & 0o777);
  } finally {
    await file.close();
  }
  counted(progress, 1, 0);
}

/** A second name of a file that came before. */
async function copyLinked(progress: Progress, path: string, { name, linkname }: Header): Promise<void> {
  const [, ...below] = (linkname ?? "").split("/");
  const from = join(progress.target, ...below);
  if (pathProblem(linkname ?? "") !== undefined || !(await look(from))?.isFile()) {
    return progress.onLeftOut(shown(name), "is a second name of a file that is not copied");
  }
  await makeFolder(progress, dirname(from));
  await clear(path);
  await copyFile(from, path, constants.COPYFILE_EXCL);
  counted(progress, 1, 0);
}

/** What is replaced; a folder stays, and is a fault. */
async function clear(path: string): Promise<void> {
  const there = await look(path);
  if (there?.isDirectory()) throw new CommandFailure(`"${path}" is there already, and is a folder`);
  if (there !== undefined) await rm(path);
}

async function look(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

/** Control characters out: the text goes to a terminal. */
function shown(text: string): string {
  return text.slice(0, 200).replace(/[\x00-\x1f\x7f-\x9f]/g, "\u{fffd}");
}
