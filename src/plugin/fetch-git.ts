import { join } from "node:path";
import { Failure } from "../api/failure.ts";
import { tagsOf } from "../core/plugins/source.ts";
import { runTool } from "./tool.ts";

export interface GitFetch {
  url: string;
  /** A tag or branch; the repository's default branch without it. */
  version: string | undefined;
  /** Where to put the checkout; made by the clone. */
  to: string;
  /** Of the server, as far as a plugin may see it. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onLine?: ((line: string) => void) | undefined;
}

/** Never asks on a terminal, and speaks no transport that runs a program of the URL's choice (`ext::`). */
const settings = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
  GIT_SSH_COMMAND: "ssh -oBatchMode=yes",
};

/** Clones without history. Returns the commit. Fails `not_found` for a version or repository that is not there. */
export async function fetchGit(fetch: GitFetch): Promise<{ commit: string }> {
  const tags = fetch.version === undefined ? [undefined] : tagsOf(fetch.version);
  let said: string[] = [];
  for (const tag of tags) {
    const branch = tag === undefined ? [] : ["--branch", tag];
    const result = await git(fetch, ["clone", "--quiet", "--depth=1", ...branch, "--", fetch.url, fetch.to]);
    if (result.exitCode === 0) return { commit: await commitOf(fetch) };
    said = result.tail;
    if (!said.some((line) => /remote branch .* not found/i.test(line))) break;
  }
  const wanted = fetch.version === undefined ? "" : ` at version "${fetch.version}"`;
  throw new Failure("not_found", `cannot clone "${fetch.url}"${wanted}: ${lastOf(said)}`);
}

async function commitOf(fetch: GitFetch): Promise<string> {
  const result = await git(fetch, ["--git-dir", join(fetch.to, ".git"), "rev-parse", "HEAD"]);
  return result.tail.find((line) => /^[0-9a-f]{40,64}$/.test(line)) ?? "";
}

async function git(fetch: GitFetch, words: readonly string[]) {
  const { timeoutMs, signal, onLine } = fetch;
  // Not of the folder that the server was started in: what lies there could configure git.
  const argv = ["git", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", ...words];
  const result = await runTool({ argv, cwd: "/", env: { ...fetch.env, ...settings }, timeoutMs, signal, onLine });
  if (result.fault === undefined) return result;
  if (signal?.aborted) throw new Failure("unavailable", "the install was interrupted");
  if (/was not found$/.test(result.fault)) {
    throw new Failure(
      "unavailable",
      "git is not installed: install it, or install the plugin from a release or a folder",
    );
  }
  throw new Failure("timeout", `git ended without an answer (${result.fault}) for "${fetch.url}"`);
}

function lastOf(lines: readonly string[]): string {
  const told = lines.filter((line) => line.trim() !== "").at(-1) ?? "git said nothing";
  return told.replace(/^(?:fatal|error): /i, "").replace(/\.$/, "");
}
