import { link, open, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readAnswer } from "../../base/wire/client.ts";
import { fetchPluginFile, fileSizeHeader } from "../../orchestration/api/dispatch.ts";
import { requireYes } from "../shell/ask.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { bytesText } from "../text/stats-table.ts";
import { printable } from "../basics/style.ts";

interface FileWish {
  remote_path: string;
  dest_path: string;
  size_bytes?: number | undefined;
}

interface FetchSetup {
  runId: string;
  /** The operator's own words: a place that they name needs no question. */
  words: readonly string[];
  yes: boolean;
}

/** Copies files that a run offered to the operator, in order. What is there already is never written over. */
export async function fetchFiles(context: Context, wishes: readonly FileWish[], setup: FetchSetup): Promise<void> {
  for (const [index, wish] of wishes.entries()) {
    const target = resolve(context.cwd, wish.dest_path);
    await requireFree(target, wish.dest_path);
    await requireConsent(context, target, { wish, setup });
    const params = { id: setup.runId, index: String(index) };
    const answer = await context.streams.raw(fetchPluginFile, { params, signal: context.signal });
    const bytes = await save(context, { wish, target, answer });
    context.terminal.note(
      `${context.terminal.noteStyle.green("✓")} ${printable(wish.dest_path)} (${bytesText(bytes)})`,
    );
  }
}

async function requireFree(target: string, shown: string): Promise<void> {
  if ((await stat(target).catch(() => undefined)) === undefined) return;
  throw new CommandFailure(`"${printable(shown)}" is there already: move it away, or name another place`);
}

/** A plugin may name any place. Below the current folder, or where the operator said, it is fine. */
async function requireConsent(
  context: Context,
  target: string,
  { wish, setup }: { wish: FileWish; setup: FetchSetup },
): Promise<void> {
  const { dest_path: path } = wish;
  const below = relative(await realpath(context.cwd), join(await realFolder(target), basename(target)));
  const isPlain = below !== "" && !below.startsWith("..") && !isAbsolute(below) && !/(?:^|\/)\./.test(below);
  const isNamed = setup.words.some((word) => word === path || word.endsWith(`=${path}`));
  if (isPlain || isNamed) return;
  const text = `Write "${printable(wish.dest_path)}"?`;
  await requireYes(context, {
    text,
    yes: setup.yes,
    way: "put --yes before the plugin's name",
    otherwise: `"${printable(wish.dest_path)}" was not written`,
  });
}

/** Links in the way followed: they may lead anywhere. */
async function realFolder(target: string): Promise<string> {
  const folder = dirname(target);
  return realpath(folder).catch(() => folder);
}

/** The whole file or none: it is given its name when all of it is there, and only if that is still free. */
async function save(
  context: Context,
  { wish, target, answer }: { wish: FileWish; target: string; answer: Response },
): Promise<number> {
  if (answer.status !== 200 || answer.body === null) {
    readAnswer(fetchPluginFile, answer.status, await answer.text());
    throw new CommandFailure(`no file came for "${printable(wish.dest_path)}"`);
  }
  const part = join(dirname(target), `.${basename(target)}.${crypto.randomUUID().slice(0, 8)}.part`);
  try {
    const size = Number(answer.headers.get(fileSizeHeader) ?? Number.NaN);
    const bytes = await writeTo(part, answer.body, (done) => {
      context.terminal.block([progressText(wish.dest_path, done, size)]);
    });
    const wanted = wish.size_bytes ?? size;
    if (bytes !== wanted || bytes !== size) {
      throw new CommandFailure(`"${printable(wish.dest_path)}" has ${bytes} bytes and not ${wanted}: try again`);
    }
    await link(part, target);
    return bytes;
  } catch (error) {
    if (context.signal.aborted) throw new CommandFailure("interrupted", exitCodes.interrupted);
    throw readable(error, wish);
  } finally {
    await rm(part, { force: true });
    context.terminal.block([]);
  }
}

async function writeTo(
  part: string,
  body: ReadableStream<Uint8Array>,
  onBytes: (done: number) => void,
): Promise<number> {
  const file = await open(part, "wx", 0o600);
  let done = 0;
  try {
    for await (const piece of body) {
      await file.writeFile(piece);
      done += piece.byteLength;
      onBytes(done);
    }
    return done;
  } finally {
    await file.close();
  }
}

function progressText(name: string, done: number, size: number): string {
  const share = size === 0 ? 100 : Math.min(100, Math.floor((100 * done) / size));
  return `${printable(name)}  ${bytesText(done)} of ${bytesText(size)}  ${share}%`;
}

function readable(error: unknown, { dest_path: to }: FileWish): unknown {
  const shown = printable(to);
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "EEXIST") return new CommandFailure(`"${shown}" is there already: move it away, or name another place`);
  if (code === "EACCES" || code === "EPERM") return new CommandFailure(`no permission to write "${shown}"`);
  if (code === "ENOENT") return new CommandFailure(`there is not a folder for "${shown}"`);
  if (code === "ENOSPC") return new CommandFailure(`no space left for "${shown}"`);
  if (code === "ECONNRESET")
    return new CommandFailure(`the connection broke while "${shown}" was copied: no part of it was kept`);
  return error;
}
