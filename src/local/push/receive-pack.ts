import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { layoutOf } from "../../base/disk/layout.ts";
import { Failure } from "../../base/wire/failure.ts";
import { serveOptions } from "../../config/config.ts";
import { pushLimits } from "../../config/push-limits.ts";
import { settleBranch } from "./branch.ts";
import { gitEnvironment } from "./git.ts";
import { lockRepository } from "./lock.ts";
import { preReceive } from "./pre-receive.ts";
import { complainNow, sayNow } from "../../client/basics/output.ts";
import { writeAll } from "./relay.ts";
import { openRepository, pushTarget, targetText, workPrefix } from "./repository.ts";

const receivePackUsage = `git config remote.berth.receivepack "berth receive-pack"

usage: berth receive-pack SCOPE[/NAME] [--root DIR]

Run by git push over ssh, on the server: takes the push, builds and deploys it, and refuses it when that fails. As the
command of a key in authorized_keys it lets that key push to this one repository. See docs/git-push.md.

  --root DIR   folder of all state (BERTH_ROOT, /opt/berth)`;

const uploadPackUsage = `git config remote.berth.uploadpack "berth upload-pack"

usage: berth upload-pack SCOPE[/NAME] [--root DIR]

Run by git fetch and git clone over ssh, on the server: sends what was pushed.

  --root DIR   folder of all state (BERTH_ROOT, /opt/berth)`;

/** `berth receive-pack`: git's own, with a hook that deploys. With `--hook` it is that hook. */
export async function receivePackCommand(args: string[]): Promise<number> {
  const line = commandLine(args);
  if (line.help || line.path === undefined) return usage(receivePackUsage, line.help);
  const target = pushTarget(line.path);
  const { root, repositories, socket } = layoutOf(line.root);
  if (line.hook) return preReceive({ target, root, socket, self: self() });
  const repository = await openRepository(repositories, target);
  const release = lockRepository(repository, targetText(target));
  const hooks = mkdtempSync(join(repository, workPrefix));
  try {
    const words = [...self(), "receive-pack", "--hook", "--root", root, targetText(target)];
    writeHook(join(hooks, "pre-receive"), words);
    const env = gitEnvironment(repository, [["core.hooksPath", hooks]]);
    const code = await serveReceivePack(repository, env);
    await settleBranch(gitEnvironment(repository));
    return code;
  } finally {
    release();
    rmSync(hooks, { recursive: true, force: true });
  }
}

/** `berth upload-pack`: git's own, for a repository that a push has made. */
export async function uploadPackCommand(args: string[]): Promise<number> {
  const line = commandLine(args);
  if (line.help || line.path === undefined) return usage(uploadPackUsage, line.help);
  const repository = await openRepository(layoutOf(line.root).repositories, pushTarget(line.path));
  const child = Bun.spawn(["git", "upload-pack", repository], {
    env: gitItself(gitEnvironment(repository)),
    stdio: ["inherit", "inherit", "inherit"],
  });
  return await child.exited;
}

function commandLine(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    options: { root: { type: "string" }, hook: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  });
  const [path, ...more] = positionals;
  if (more.length > 0) throw new Failure("invalid", `"${more[0]}" is one word too many`);
  const { root } = serveOptions(values.root === undefined ? {} : { root: values.root });
  return { path, root, hook: values.hook === true, help: values.help === true };
}

/** Unasked it goes to stderr: stdout is for git. */
function usage(text: string, asked: boolean): number {
  (asked ? sayNow : complainNow)(text);
  return asked ? 0 : 2;
}

/** git takes a push without a question where its hook cannot be run: then it is refused here. */
function writeHook(path: string, words: readonly string[]): void {
  // The limit is git's; what is deployed from here has its own.
  writeFileSync(path, `#!/bin/sh\nulimit -S -v unlimited\nexec ${words.map(quoted).join(" ")}\n`, { mode: 0o700 });
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new Failure("conflict", `no program can be run in ${dirname(path)}: the file system is mounted with noexec`);
  }
}

/** Program and first words of this program. */
function self(): string[] {
  return Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
}

/** A word of a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The conversation is between git here and git there. While its hook runs, git does not end when its reader has gone,
 * but it sends a sign of life every 5 seconds, and passing it on fails then.
 */
async function serveReceivePack(repository: string, env: Record<string, string>): Promise<number> {
  const limited = ["sh", "-c", 'ulimit -S -v "$1" && exec git receive-pack "$2"', "sh"];
  const child = Bun.spawn([...limited, String(pushLimits.gitMemoryBytesMax / 1024), repository], {
    env: gitItself(env),
    stdin: "inherit",
    stdout: "pipe",
    stderr: "inherit",
  });
  for await (const part of child.stdout) {
    if (!writeAll(1, part)) child.kill();
  }
  return await child.exited;
}

/** These commands are given the repository by its path. */
function gitItself({ GIT_DIR: _, ...env }: Record<string, string>): Record<string, string> {
  return env;
}
