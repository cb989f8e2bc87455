import { Failure } from "../../base/wire/failure.ts";
import { sourceLimits } from "../../config/source-limits.ts";
import type { Source } from "../../orchestration/api/sources.ts";
import { quietEnvironment } from "../push/git.ts";
import type { SourceJob } from "./job.ts";
import type { SourceAnswer } from "./read-source.ts";

interface Options {
  signal: AbortSignal;
  onLine?: ((line: string) => void) | undefined;
}

/** Runs the process that reads source, within a limit of time. Nothing of it is left afterwards. */
export async function runReader(self: readonly string[], job: SourceJob, { signal, onLine }: Options): Promise<Source> {
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
