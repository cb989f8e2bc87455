import { createWriteStream, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { allowedAddresses, type Resolve } from "../../base/deliver/address-guard.ts";
import { diskFailure } from "../../base/wire/disk-failure.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createLimit, type Limit } from "../../base/words/limit.ts";
import { sourceLimits } from "../../config/source-limits.ts";
import type { BuildContext } from "../../orchestration/api/builds.ts";
import type { GitAsk, Source, SourceReader } from "../../orchestration/api/sources.ts";
import { gitUrl, readGitAsk } from "../../orchestration/core/git-ask.ts";
import { identityProblems } from "../../orchestration/core/identity.ts";
import type { SourceJob } from "./job.ts";
import { packedPath } from "./plan-source.ts";
import { quietEnvironment } from "../push/git.ts";
import type { SourceAnswer } from "./read-source.ts";

interface SourceParts {
  /** For the work; what a killed server left there is removed. */
  folder: string;
  /** Program and first words of this program. */
  self: readonly string[];
  resolve: Resolve;
  /** Repositories may be on this machine and in its networks, and on plain http. */
  allowPrivate: boolean;
  configOf: (scope: string, name: string) => object;
  context: (digest: string) => Promise<BuildContext>;
  upload: (digest: string, bytes: Uint8Array, at: { offset: number; last: boolean }) => Promise<BuildContext>;
}

const workPrefix = "work.";
const partBytes = 1024 * 1024;

/** Reads source in a process of its own, and keeps what images are built from. */
export function createSources(parts: SourceParts): SourceReader {
  const turns = createLimit(sourceLimits.atOnceMax);
  /** A client that sends slowly must not hold up those whose source is there. */
  const receiving = createLimit(sourceLimits.receivedAtOnceMax);
  const within = (limit: Limit, run: (work: string) => Promise<Source>): Promise<Source> =>
    limit(async () => {
      removeLeft(parts.folder);
      const work = mkdtempSync(join(parts.folder, workPrefix));
      try {
        return await run(work);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
    });
  const read = async (job: SourceJob, options: Parameters<typeof runReader>[2]): Promise<Source> => {
    const source = await runReader(parts.self, job, options);
    for (const digest of new Set(source.builds.map(({ request }) => request.context))) {
      await keep(parts, digest, packedPath(job.work, digest));
    }
    return source;
  };
  return {
    uploadBytesMax: sourceLimits.packedBytesMax,
    git: async (body, options) => {
      const ask = readGitAsk(body);
      return within(turns, async (work) => read({ ...(await gitJob(parts, ask)), work }, options));
    },
    archive: (bytes, { scope, name, host, isFolder }, signal) =>
      within(receiving, async (work) => {
        const [problem] = identityProblems("app", scope, name);
        if (problem !== undefined) throw new Failure("invalid", `query ${problem.path}: ${problem.message}`);
        const file = join(work, "upload");
        await pipeline(Readable.from(bounded(paced(bytes, signal))), createWriteStream(file, { mode: 0o600 }), {
          signal,
        }).catch((error: unknown) => {
          throw error instanceof Failure || signal.aborted ? error : diskFailure(error, file);
        });
        return turns(() => read({ type: "archive", scope, name, host, work, file, isFolder }, { signal }));
      }),
  };
}

/** Fails `timeout` where nothing comes for a while. */
async function* paced(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const parts = bytes[Symbol.asyncIterator]();
  for (;;) {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(standsStill()), sourceLimits.slowSeconds * 1_000);
    const leave = () => late.reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      const { done, value } = await Promise.race([parts.next(), late.promise]);
      if (done === true) return;
      yield value;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    }
  }
}

function standsStill(): Failure {
  return new Failure("timeout", `nothing of the upload came for ${sourceLimits.slowSeconds} seconds`);
}

async function* bounded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sum = 0;
  for await (const part of bytes) {
    sum += part.length;
    if (sum > sourceLimits.packedBytesMax) {
      throw new Failure("too_large", `the upload is larger than ${sourceLimits.packedBytesMax} bytes`);
    }
    yield part;
  }
}

type GitJob = Extract<SourceJob, { type: "git" }>;

async function gitJob(parts: SourceParts, ask: GitAsk): Promise<Omit<GitJob, "work">> {
  const { scope, name, host, url: text, ref, folder } = ask;
  const { hostname, protocol } = gitUrl(text);
  const { allowPrivate, resolve } = parts;
  if (protocol === "http:" && !allowPrivate) {
    throw new Failure("forbidden", "url: plain http is not allowed: use https, or serve with --allow-private-hooks");
  }
  const [address = ""] = await allowedAddresses(hostname, { resolve, allowPrivate });
  if (Bun.which("git") === null) {
    throw new Failure("conflict", "git is not installed on the server: apt-get install git", { reason: "GitMissing" });
  }
  const token = tokenOf(parts, ask);
  return { type: "git", scope, name, host, url: text, ref, folder, address, token, allowHttp: protocol === "http:" };
}

function tokenOf({ configOf }: SourceParts, { scope, name, token_key: key }: GitAsk): string | undefined {
  if (key === undefined || key === "") return undefined;
  const config = configOf(scope, name);
  const value = new Map<string, unknown>(Object.entries(config)).get(key);
  if (typeof value === "string" && value !== "") return value;
  const message = `token_key: ${scope}/${name} has no config ${key}: berth config set ${scope}/${name} ${key}=-`;
  throw new Failure("conflict", message, { reason: "BuildSecretMissing" });
}

/** Into the store of packed folders, which checks it once more as it does what clients send. */
async function keep({ context, upload }: SourceParts, digest: string, path: string): Promise<void> {
  const state = await context(digest);
  if (state.complete) return;
  const file = Bun.file(path);
  let sent = state.received;
  do {
    const bytes = await file.slice(sent, sent + partBytes).bytes();
    const last = sent + bytes.length >= file.size;
    await upload(digest, bytes, { offset: sent, last });
    sent += bytes.length;
  } while (sent < file.size);
}

function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(workPrefix)) continue;
    const info = statSync(join(folder, name), { throwIfNoEntry: false });
    if (info === undefined || Date.now() - info.mtimeMs < sourceLimits.leftMs) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

interface Options {
  signal: AbortSignal;
  onLine?: ((line: string) => void) | undefined;
}

/** Runs the process that reads source, within a limit of time. Nothing of it is left afterwards. */
async function runReader(self: readonly string[], job: SourceJob, { signal, onLine }: Options): Promise<Source> {
  signal.throwIfAborted();
  const child = Bun.spawn([...self, "read-source"], {
    cwd: job.work,
    env: quietEnvironment(["GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR"]),
    // On stdin: the environment and the words of a process can be read by others of its user.
    stdin: new Blob([JSON.stringify(job)]),
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooLong()), sourceLimits.readMs);
  const leave = () => late.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    const [text] = await Promise.race([Promise.all([textOf(child.stdout), tell(child.stderr, onLine)]), late.promise]);
    return sourceOf(text, await child.exited);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
    late.promise.catch(() => undefined);
    killGroup(child.pid);
  }
}

function sourceOf(text: string, code: number): Source {
  if (text === "") {
    throw new Failure("too_large", `the process that read the source ended (${code}): it may need too much memory`);
  }
  const answer = JSON.parse(text) as SourceAnswer;
  if ("source" in answer) return answer.source;
  const { code: kind, message, reason } = answer.failure;
  throw new Failure(kind, message, reason === undefined ? {} : { reason });
}

function tooLong(): Failure {
  return new Failure("timeout", `reading the source took longer than ${sourceLimits.readMs / 60_000} minutes`);
}

/** git and what it started too. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > sourceLimits.answerBytesMax)
      throw new Failure("too_large", "the manifests of the source are too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

async function tell(stream: ReadableStream<Uint8Array>, onLine: ((line: string) => void) | undefined): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  let lines = 0;
  for await (const part of stream) {
    const texts = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = (texts.pop() ?? "").slice(-1_000);
    for (const text of texts) {
      lines += 1;
      if (lines <= sourceLimits.linesMax) onLine?.(text.replace(/[\x00-\x1f\x7f-\x9f]/g, " ").slice(0, 1_000));
    }
  }
}
