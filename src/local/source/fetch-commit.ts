import { join } from "node:path";
import { pinnedGit } from "../../base/deliver/pinned.ts";
import { Failure } from "../../base/wire/failure.ts";
import { sourceLimits } from "../../config/source-limits.ts";
import type { GitSource } from "../../orchestration/api/builds.ts";
import { errorText, gitEnvironment, gitText, quietEnvironment, runGit } from "../push/git.ts";
import type { SourceJob } from "./job.ts";

type GitJob = Extract<SourceJob, { type: "git" }>;

const fetched = "refs/berth/source";
/** `http.curloptResolve`: without it git would resolve the name again, and could get another address. */
const oldestVersion = [2, 37];

/** Settings of git for the connection: one protocol, one address, no redirect, and no password but the token. */
function connection({ url, address, token, allowHttp }: GitJob): [string, string][] {
  const basic = token === undefined ? undefined : Buffer.from(`x-access-token:${token}`).toString("base64");
  return [
    ["protocol.allow", "never"],
    ["protocol.https.allow", "always"],
    ...(allowHttp ? [["protocol.http.allow", "always"] as [string, string]] : []),
    ...pinnedGit(new URL(url), address),
    ["http.lowSpeedLimit", String(sourceLimits.slowBytes)],
    ["http.lowSpeedTime", String(sourceLimits.slowSeconds)],
    ...(basic === undefined ? [] : [["http.extraHeader", `Authorization: Basic ${basic}`] as [string, string]]),
    ["credential.helper", ""],
    ["core.hooksPath", "/dev/null"],
    ["submodule.recurse", "false"],
    ["fetch.fsckObjects", "true"],
    ["fetch.fsck.zeroPaddedFilemode", "warn"],
    ["fetch.fsck.badTimezone", "warn"],
    ["fetch.fsck.zeroPaddedDate", "warn"],
    ["fetch.unpackLimit", "1"],
  ];
}

/** A commit without its history in a repository of its own. `env` is that of git for it. */
export async function fetchCommit(job: GitJob): Promise<{ git: GitSource; env: Record<string, string> }> {
  const repository = join(job.work, "repository.git");
  const env: Record<string, string> = {
    ...gitEnvironment(repository, connection(job)),
    ...quietEnvironment(["GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR"]),
    // A .netrc of the server's own user is not for repositories that others choose.
    HOME: job.work,
    GIT_ALLOW_PROTOCOL: job.allowHttp ? "https:http" : "https",
    GIT_ASKPASS: "true",
  };
  const { GIT_DIR: _, ...outside } = env;
  const version = await gitText(["version"], outside);
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const [oldMajor = 0, oldMinor = 0] = oldestVersion;
  if (Number(major) < oldMajor || (Number(major) === oldMajor && Number(minor) < oldMinor)) {
    throw new Failure("conflict", `${version.trim()} of the server is too old: install 2.37 or newer`, {
      reason: "GitMissing",
    });
  }
  await runGit(["init", "--quiet", "--bare", "--template=", repository], { env: outside });
  await fetchWithin(job, env);
  const [commit = "", subject = ""] = (
    await gitText(["log", "-1", "--no-show-signature", "--format=%H%n%<(200,trunc)%s", fetched], env)
  ).split("\n");
  const { url, ref } = job;
  return { git: { url, ...(ref === undefined ? {} : { ref }), commit, subject: oneLine(subject) }, env };
}

function oneLine(text: string): string {
  return [...text.replace(/[\x00-\x1f\x7f-\x9f]/g, " ").trim()].slice(0, 200).join("");
}

/** git with limits of memory, and of the size of a file: what it receives becomes one. */
async function fetchWithin({ url, ref = "HEAD" }: GitJob, env: Record<string, string>): Promise<void> {
  const { gitMemoryBytesMax: memory, packedBytesMax: bytes } = sourceLimits;
  const script = 'ulimit -S -v "$1" && ulimit -f "$2" && shift 2 && exec git "$@"';
  const words = [
    "fetch",
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-recurse-submodules",
    "--",
    url,
    `+${ref}:${fetched}`,
  ];
  const child = Bun.spawn(["sh", "-c", script, "sh", String(memory / 1024), String(bytes / 512), ...words], {
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await errorText(child.stderr);
  const code = await child.exited;
  if (code !== 0) throw fetchFailure(said, { url, ref });
}

/** What git says, as what to do about it. */
function fetchFailure(said: string, { url, ref }: { url: string; ref: string }): Failure {
  if (/couldn't find remote ref|not our ref|does not allow request/i.test(said)) {
    return new Failure("invalid", `ref: ${url} has no branch, tag or commit ${JSON.stringify(ref)}`);
  }
  if (/authentication failed|could not read username|\b40[134]\b|not found/i.test(said)) {
    const how = "write the address right; for a private one store a token with berth config set, and name its key";
    return new Failure("invalid", `url: ${url} is not a repository that can be read: ${how}`);
  }
  if (/unable to update url base from redirection|\b30[1278]\b/i.test(said)) {
    return new Failure("invalid", `url: ${url} leads to another address: write that one, often with .git at its end`);
  }
  if (/file size limit|file too large|out of memory|mmap failed|invalid index-pack output/i.test(said) || said === "") {
    const most = sourceLimits.packedBytesMax / 1024 ** 2;
    return new Failure(
      "too_large",
      `the commit is larger than ${most} MiB, needs too much memory, or has objects that git refuses`,
    );
  }
  const last = said.split("\n").at(-1) ?? "";
  return new Failure("unavailable", `git cannot fetch from ${url}: ${oneLine(last)}`);
}
