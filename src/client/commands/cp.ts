import type { Stats } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { ApiError, readAnswer, targetOf } from "../../base/wire/client.ts";
import { type FileInfo, readFiles, statFile, writeFiles } from "../../orchestration/api/files.ts";
import { type CopyPlace, type PodPlace, readPlace } from "../copy/places.ts";
import { unpack, unpackFile } from "../copy/receive.ts";
import { archiveOf, type CopyCount } from "../copy/send.ts";
import { sendArchive } from "../copy/session.ts";
import { choosePod } from "../session/choose-pod.ts";
import type { Arguments } from "../basics/arguments.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { bytesText } from "../text/stats-table.ts";

export const cpCommand: CommandBody = {
  usage: ["cp PATH|- SCOPE/NAME[.REPLICA]:/PATH", "cp SCOPE/NAME[.REPLICA]:/PATH PATH|- [-y]"],
  examples: [
    "cp dump.sql shop/db.0:/tmp/  a file into a folder of a pod",
    "cp shop/web:/var/log/app .  a folder of a pod, into this folder",
    "cp shop/web:/etc/hosts -  a file to stdout",
    "cp - shop/db.0:/tmp/old.sql  stdin to a file",
    "cp config shop/web:/etc/app  a folder, which is called app there",
  ],
  detail: [
    "Copies a file, or a folder with all that is in it, through the server. A folder that is there gets",
    "the copy under its own name; otherwise the path is its new name. In the pod the files belong to the",
    "user of the container. Links are copied as links; from a pod, one that leads out of the copy is left",
    "out. If the name means several replicas, berth takes the newest one that is ready: the others do not",
    "get the file, and a new container does not have it, unless the path is in a volume.",
  ],
  flags: [yesFlag],
  async run(context, args) {
    const [from, to, ...more] = args.words;
    if (from === undefined || to === undefined || more.length > 0) {
      throw usageFailure("say what to copy, and where to: cp PATH SCOPE/NAME:/PATH, or cp SCOPE/NAME:/PATH PATH");
    }
    const [source, target]: CopyPlace[] = [readPlace(from), readPlace(to)];
    if (source?.kind === "local" && source.path === "-" && target?.kind === "pod") return sendInput(context, target);
    if (source?.kind === "local" && target?.kind === "pod") return send(context, source.path, target);
    if (source?.kind === "pod" && target?.kind === "local") return receive(context, source, { to: target.path, args });
    throw usageFailure("one of the two places is in a pod, as SCOPE/NAME:/PATH, and the other is here");
  },
};

async function send(context: Context, from: string, to: PodPlace): Promise<number> {
  const path = resolve(context.cwd, from);
  const stats = await stat(path).catch((error: unknown) => {
    throw unreadable(from, error);
  });
  const pod = await choosePod(context, to.reference);
  const { folder, name } = await podTarget(context, pod, { to, from: basename(path), stats });
  const total: CopyCount = { files: 0, bytes: 0 };
  const { route, headers, signal, limits } = context;
  const archive = archiveOf(
    { path, name, limits: limits.copy, onLeftOut: leftOut(context), onProgress: progress(context, name, total) },
    stats,
  );
  const target = targetOf(writeFiles.path, { params: { name: pod }, query: { path: folder } });
  await whole(context, () => sendArchive({ route, target, headers, signal, answerMs: limits.answerMs }, archive));
  return report(context, total, `${pod}:${folder === "/" ? "" : folder}/${name}`);
}

/** The size of a file comes before it in an archive: what comes on stdin is written down first. */
async function sendInput(context: Context, to: PodPlace): Promise<number> {
  if (context.rawTerminal.inputIsTerminal) throw usageFailure("- reads stdin: pipe something into it");
  if (to.mustBeFolder || to.name === "")
    throw usageFailure("stdin has no name: write the file, as SCOPE/NAME:/PATH/FILE");
  const folder = await mkdtemp(join(tmpdir(), "berth-cp-"));
  try {
    const path = join(folder, to.name);
    await writeInput(context, path);
    const pod = await choosePod(context, to.reference);
    if ((await look(context, pod, to.path))?.kind === "folder")
      throw new CommandFailure(`"${printable(to.path)}" is a folder in ${pod}: stdin needs the name of a file in it`);
    return await send(context, path, to);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeInput({ rawTerminal, limits, signal }: Context, path: string): Promise<void> {
  const input = rawTerminal.input();
  const file = await open(path, "w", 0o600);
  signal.addEventListener("abort", input.stop, { once: true });
  let bytes = 0;
  try {
    for await (const chunk of input.chunks) {
      bytes += chunk.length;
      if (bytes > limits.copy.bytesMax) throw new CommandFailure(`a copy has at most ${limits.copy.bytesMax} bytes`);
      await file.write(chunk);
    }
    if (signal.aborted) throw new CommandFailure("interrupted: nothing was copied", exitCodes.interrupted);
  } finally {
    signal.removeEventListener("abort", input.stop);
    input.stop();
    await file.close();
  }
}

interface Wanted {
  to: PodPlace;
  /** Last name of what is copied. */
  from: string;
  stats: Stats;
}

/** The folder of the pod that receives the copy, and its name there. */
async function podTarget(context: Context, pod: string, { to, from, stats }: Wanted) {
  const there = await look(context, pod, to.path);
  if (there?.kind === "folder") return { folder: there.path, name: from };
  if (to.mustBeFolder || (there !== undefined && stats.isDirectory())) {
    const what = there === undefined ? "does not exist" : "is not a folder";
    throw new CommandFailure(`"${printable(to.path)}" ${what} in ${pod}`);
  }
  return { folder: to.folder, name: to.name };
}

/** What is at a path, with a link there followed; undefined where there is nothing. */
async function look({ api }: Context, pod: string, path: string): Promise<FileInfo | undefined> {
  const info = await api.call(statFile, { params: { name: pod }, query: { path } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  if (info?.kind !== "link" || info.link_target === undefined || info.link_target === path) return info;
  return api.call(statFile, { params: { name: pod }, query: { path: info.link_target } });
}

async function receive(
  context: Context,
  from: PodPlace,
  { to, args }: { to: string; args: Arguments },
): Promise<number> {
  if (from.name === "") throw usageFailure('"/" is all of the container: name a folder in it');
  const pod = await choosePod(context, from.reference);
  const params = { name: pod };
  const info = (await look(context, pod, from.path)) ?? (await context.api.call(statFile, { params, query: from }));
  if (info.kind === "other") throw new CommandFailure(`"${printable(from.path)}" of ${pod} is a device or a socket`);
  if (to === "-") return print(context, pod, info);
  const target = await localTarget(context, to, from.name);
  await consent(context, args, { target, info });
  const { limits } = context;
  const body = await archiveFrom(context, pod, info);
  const total: CopyCount = { files: 0, bytes: 0 };
  const onProgress = progress(context, from.name, total);
  await whole(context, () => unpack(body, { target, limits: limits.copy, onLeftOut: leftOut(context), onProgress }));
  return report(context, total, target);
}

/** One file, to stdout: nothing else is printed there. */
async function print(context: Context, pod: string, { kind, path }: FileInfo): Promise<number> {
  if (context.json) throw usageFailure("- prints the file itself: leave out -o json");
  if (kind === "folder") throw new CommandFailure(`"${printable(path)}" of ${pod} is a folder: - takes one file`);
  const body = await archiveFrom(context, pod, { path });
  await whole(context, () => unpackFile(body, context.rawTerminal.stdout));
  return exitCodes.done;
}

async function archiveFrom({ streams, signal }: Context, pod: string, { path }: Pick<FileInfo, "path">) {
  const answered = await streams.raw(readFiles, { params: { name: pod }, query: { path }, signal });
  if (answered.status === 200 && answered.body !== null) return answered.body;
  readAnswer(readFiles, answered.status, await answered.text());
  throw new CommandFailure(`nothing came from ${pod}`);
}

/** Into a folder that is there under the name of the copy, else to the path itself. */
async function localTarget({ cwd }: Context, to: string, name: string): Promise<string> {
  const path = resolve(cwd, to);
  const there = await stat(path).catch(() => undefined);
  if (there?.isDirectory()) return join(path, name);
  const parent = await stat(dirname(path)).catch(() => undefined);
  if (to.endsWith("/") || !parent?.isDirectory()) {
    throw new CommandFailure(`"${printable(to.endsWith("/") ? to : dirname(to))}" is not a folder here`);
  }
  return path;
}

async function consent(context: Context, args: Arguments, { target, info }: { target: string; info: FileInfo }) {
  const there = await stat(target).catch(() => undefined);
  if (there === undefined) return;
  const shown = printable(target);
  if (there.isDirectory() !== (info.kind === "folder")) {
    throw new CommandFailure(`"${shown}" is there already, and is ${there.isDirectory() ? "" : "not "}a folder`);
  }
  await assent(
    there.isDirectory() ? `Write into ${shown}, which is there already?` : `Write over ${shown}?`,
    args,
    context,
  );
}

/** A copy that breaks off leaves what is there already, and says so. */
async function whole<T>(context: Context, copy: () => Promise<T>): Promise<T> {
  try {
    return await copy();
  } catch (error) {
    if (context.signal.aborted) throw new CommandFailure("interrupted: a part may be copied", exitCodes.interrupted);
    if (error instanceof ApiError || error instanceof CommandFailure) throw error;
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const why = error instanceof Error ? error.message : String(error);
    const told = code === "ENOSPC" ? "no space left here" : code === "EACCES" ? `no permission: ${why}` : why;
    throw new CommandFailure(`the copy broke off, a part may be copied: ${printable(told)}`);
  } finally {
    context.terminal.block([]);
  }
}

function unreadable(path: string, error: unknown): CommandFailure {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const why = code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be read (${String(code)})`;
  return new CommandFailure(`"${printable(path)}" ${why}`);
}

function leftOut({ terminal }: Context): (path: string, why: string) => void {
  return (path, why) =>
    terminal.note(`${terminal.noteStyle.yellow("!")} left out: ${printable(path)} ${printable(why)}`);
}

/** Keeps `total`, and shows it. */
function progress({ terminal }: Context, name: string, total: CopyCount): (count: CopyCount) => void {
  return ({ files, bytes }) => {
    Object.assign(total, { files, bytes });
    terminal.block([`${printable(name)}  ${files} files, ${bytesText(bytes)}`]);
  };
}

function report(context: Context, { files, bytes }: CopyCount, target: string): number {
  return answer(context, { files, bytes, target }, () => {
    return `copied ${files} file${files === 1 ? "" : "s"} (${bytesText(bytes)}) to ${printable(target)}`;
  });
}
