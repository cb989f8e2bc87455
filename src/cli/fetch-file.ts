import { link, open, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { confirmed } from "./ask.ts";
import type { Context } from "./command.ts";
import { engineHere } from "./exec-local.ts";
import { CommandFailure, exitCodes } from "./failures.ts";
import { bytesText } from "./stats-table.ts";
import { printable } from "./style.ts";

export interface FileWish {
  remote_path: string;
  dest_path: string;
  size_bytes?: number | undefined;
}

export interface FetchSetup {
  /** The operator's own words: a place that they name needs no question. */
  words: readonly string[];
  yes: boolean;
}

const chunkBytes = 1024 * 1024;

/** Copies files of the server to the operator, in order. What is there already is never written over. */
export async function fetchFiles(context: Context, wishes: readonly FileWish[], setup: FetchSetup): Promise<void> {
  if (wishes.length === 0) return;
  const isHere = (await engineHere(context)) !== undefined;
  for (const wish of wishes) {
    const target = resolve(context.cwd, wish.dest_path);
    await requireFree(target, wish.dest_path);
    if (!isHere) throw new CommandFailure(fromAfar(wish), exitCodes.failed);
    await requireConsent(context, target, { wish, setup });
    const bytes = await copy(context, wish, target);
    context.terminal.note(
      `${context.terminal.noteStyle.green("✓")} ${printable(wish.dest_path)} (${bytesText(bytes)})`,
    );
  }
}

/** The files of the server travel on the operator's own way to it. */
function fromAfar({ remote_path: from, dest_path: to }: FileWish): string {
  return [
    `the file lies on the server, and this is another machine; fetch it with:`,
    `  scp USER@SERVER:${shellWord(from)} ${shellWord(to)}`,
  ].join("\n");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", `'\\''`)}'`;
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
  const below = relative(context.cwd, target);
  const isPlain = below !== "" && !below.startsWith("..") && !isAbsolute(below) && !/(?:^|\/)\./.test(below);
  if (isPlain || setup.yes || setup.words.some((word) => word.includes(wish.dest_path))) return;
  const refusal = new CommandFailure(`"${printable(wish.dest_path)}" was not written`, exitCodes.refused);
  if (!context.terminal.interactive) throw refusal;
  if (!(await confirmed(`Write "${printable(wish.dest_path)}"?`, context))) throw refusal;
}

/** The whole file or none: it is given its name when all of it is there, and only if that is still free. */
async function copy(context: Context, wish: FileWish, target: string): Promise<number> {
  const part = join(dirname(target), `.${basename(target)}.${crypto.randomUUID().slice(0, 8)}.part`);
  try {
    const bytes = await copyTo(context, wish, part);
    if (wish.size_bytes !== undefined && wish.size_bytes !== bytes) {
      throw new CommandFailure(
        `"${printable(wish.remote_path)}" has ${bytes} bytes and not ${wish.size_bytes}: try again`,
      );
    }
    await link(part, target);
    return bytes;
  } catch (error) {
    throw readable(error, wish);
  } finally {
    await rm(part, { force: true });
    context.terminal.block([]);
  }
}

async function copyTo(context: Context, wish: FileWish, part: string): Promise<number> {
  const from = await open(wish.remote_path, "r");
  try {
    const { size } = await from.stat();
    const to = await open(part, "wx", 0o600);
    try {
      const buffer = new Uint8Array(chunkBytes);
      let done = 0;
      for (;;) {
        if (context.signal.aborted) throw new CommandFailure("interrupted", exitCodes.interrupted);
        const { bytesRead } = await from.read(buffer, 0, buffer.byteLength, null);
        if (bytesRead === 0) return done;
        await to.writeFile(buffer.subarray(0, bytesRead));
        done += bytesRead;
        context.terminal.block([progressText(wish.dest_path, done, size)]);
      }
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

function progressText(name: string, done: number, size: number): string {
  const share = size === 0 ? 100 : Math.min(100, Math.floor((100 * done) / size));
  return `${printable(name)}  ${bytesText(done)} of ${bytesText(size)}  ${share}%`;
}

function readable(error: unknown, { remote_path: from, dest_path: to }: FileWish): unknown {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "EEXIST")
    return new CommandFailure(`"${printable(to)}" is there already: move it away, or name another place`);
  if (code === "EACCES" || code === "EPERM")
    return new CommandFailure(`no permission for "${printable(from)}" or "${printable(to)}": try sudo`);
  if (code === "ENOENT")
    return new CommandFailure(`there is no file "${printable(from)}", or no folder for "${printable(to)}"`);
  return error;
}
