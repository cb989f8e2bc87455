import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { tagsOf } from "../core/plugins/source.ts";
import type { Finished, Host } from "./host.ts";

/** How git may connect to an address. Fails `forbidden` where it may not. */
export type Connection = (url: string) => Promise<{ protocol: string; config: [string, string][] }>;

interface GitFetch {
  host: Pick<Host, "run">;
  /** Id of the runs of git. */
  id: string;
  url: string;
  /** A tag or branch; the repository's default branch without it. */
  version: string | undefined;
  /** Where to put the checkout; made by the clone. */
  to: string;
  connection: Connection;
  /** Environment of the server, as far as a plugin may see it. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onLine?: ((line: string) => void) | undefined;
}

/** Never asks on a terminal. */
const settings = { GIT_TERMINAL_PROMPT: "0", GIT_SSH_COMMAND: "ssh -oBatchMode=yes" };

/** Clones without history. Returns the commit. Fails `not_found` for a version or repository that is not there. */
export async function fetchGit(fetch: GitFetch): Promise<{ commit: string }> {
  const { protocol, config } = await fetch.connection(fetch.url);
  const connection = [
    ...["-c", "protocol.allow=never", "-c", `protocol.${protocol}.allow=always`],
    ...config.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const tags = fetch.version === undefined ? [undefined] : tagsOf(fetch.version);
  let said = "";
  for (const tag of tags) {
    const branch = tag === undefined ? [] : ["--branch", tag];
    const { ending, stderr } = await git(fetch, [
      ...connection,
      "clone",
      "--quiet",
      "--depth=1",
      ...branch,
      "--",
      fetch.url,
      fetch.to,
    ]);
    if (ending.how === "exited" && ending.code === 0) return { commit: await commitOf(fetch) };
    said = stderr;
    if (!/remote branch .* not found/i.test(said)) break;
  }
  const wanted = fetch.version === undefined ? "" : ` at version "${fetch.version}"`;
  throw new Failure("not_found", `cannot clone "${fetch.url}"${wanted}: ${lastOf(said)}`);
}

async function commitOf(fetch: GitFetch): Promise<string> {
  const { stdout } = await git(fetch, ["--git-dir", join(fetch.to, ".git"), "rev-parse", "HEAD"]);
  const text = new TextDecoder().decode(stdout).trim();
  return /^[0-9a-f]{40,64}$/.test(text) ? text : "";
}

async function git(fetch: GitFetch, words: readonly string[]): Promise<Finished> {
  const { host, id, timeoutMs, signal, onLine, url } = fetch;
  // Not in the folder that the server was started in: what lies there could configure git.
  const argv = ["git", "-c", "core.hooksPath=/dev/null", ...words];
  const env = { ...fetch.env, ...settings };
  const finished = await host
    .run({ id, argv, folder: "/", env, stdin: undefined, timeoutMs, signal, onLine })
    .catch((cause: unknown) => {
      if (!(cause instanceof Failure) || cause.code !== "not_found") throw cause;
      const way = "install it, or install the plugin from a release or a folder";
      throw new Failure("unavailable", `git is not installed: ${way}`, { cause });
    });
  if (finished.ending.how === "exited") return finished;
  if (signal?.aborted) throw new Failure("unavailable", "the install was interrupted");
  throw new Failure("timeout", `git did not come to an end with "${url}" (${finished.ending.how.replace("_", " ")})`);
}

function lastOf(text: string): string {
  if (/returned error: 30\d|unable to update url base/i.test(text)) {
    return "the address leads to another one, which is not followed; write that one, often with .git at its end";
  }
  const told =
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .at(-1) ?? "git said nothing";
  return told.replace(/^(?:fatal|error): /i, "").replace(/\.$/, "");
}
