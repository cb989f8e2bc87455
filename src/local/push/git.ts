import { Failure } from "../../base/wire/failure.ts";
import { shellVariables } from "../../config/config.ts";
import { pushLimits } from "../../config/push-limits.ts";

/** Settings that hold whatever a repository, the user or the machine says. */
const settings: readonly [string, string][] = [
  ["receive.fsckObjects", "true"],
  // Harmless faults of very old commits.
  ["receive.fsck.zeroPaddedFilemode", "warn"],
  ["receive.fsck.badTimezone", "warn"],
  ["receive.fsck.missingSpaceBeforeDate", "warn"],
  ["receive.maxInputSize", String(pushLimits.packBytesMax)],
  // Within the push: nothing goes on behind it.
  ["gc.autoDetach", "false"],
  ["receive.denyDeletes", "false"],
  // A repository that a group shares refuses it. A branch that was rewritten deploys: git push asks for --force.
  ["receive.denyNonFastForwards", "false"],
  // Runners of CI fetch the last commit alone. Without this, git refuses such a push, and only after its hook has run.
  ["receive.shallowUpdate", "true"],
  ["receive.denyCurrentBranch", "ignore"],
  ["core.symlinks", "true"],
  // Packs stay packed: unpacking them object by object holds each in memory.
  ["receive.unpackLimit", "1"],
  // What git maps of packs counts as memory too.
  ["core.packedGitLimit", "256m"],
  ["core.packedGitWindowSize", "32m"],
  // A larger file is hashed as it comes, not held in memory.
  ["core.bigFileThreshold", "16m"],
];

const passed = ["PATH", "HOME", "USER", "LOGNAME", "SUDO_USER", "LANG", "TZ", "TMPDIR"];
/** Where git keeps the objects of a push until the hook has agreed, where their history ends, and how the client speaks. */
const passedOfGit = [
  "GIT_QUARANTINE_PATH",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_SHALLOW_FILE",
  "GIT_PROTOCOL",
];

/** What all programs of a push get: nothing of git's configuration but `settings` and that of the repository. */
export function gitEnvironment(repository: string, more: readonly [string, string][] = []): Record<string, string> {
  const all = [...settings, ["safe.directory", repository] as [string, string], ...more];
  const pairs = all.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...quietEnvironment(passedOfGit),
    GIT_DIR: repository,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(pairs),
  };
}

/** The user's own variables that programs need; no secret of the session is in them. */
export function quietEnvironment(more: readonly string[] = []): Record<string, string> {
  const names = new Set([...passed, ...more]);
  const entries = Object.entries(shellVariables());
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => names.has(entry[0]) && entry[1] !== undefined),
  );
}

interface GitRun {
  env: Record<string, string>;
  /** Reads what git prints, part by part; throwing ends git. */
  read?: (part: Uint8Array) => void;
}

/** Runs git to its end, within a limit of time. Fails `internal` with what git said. */
export async function runGit(words: readonly string[], { env, read }: GitRun): Promise<void> {
  const child = Bun.spawn(["git", ...words], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const late = setTimeout(() => child.kill("SIGKILL"), pushLimits.gitMs);
  try {
    const said = errorText(child.stderr);
    for await (const part of child.stdout) read?.(part);
    const code = await child.exited;
    if (code !== 0) throw new Failure("internal", `git ${words[0]} failed: ${(await said) || `exit code ${code}`}`);
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
  }
}

/** All that git prints, as text. */
export async function gitText(words: readonly string[], env: Record<string, string>): Promise<string> {
  const parts: Uint8Array[] = [];
  await runGit(words, { env, read: (part) => void parts.push(part) });
  return Buffer.concat(parts).toString();
}

/** What git says when it fails, its beginning; read to the end. */
export async function errorText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    if (bytes < pushLimits.gitErrorBytesMax) parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts).toString().trim();
}
