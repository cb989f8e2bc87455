import { createLineTail } from "../lib/lines.ts";

export interface ToolRun {
  /** The program absolute, or looked for on the PATH of `env`. */
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Each line of both outputs, in the order of their coming. */
  onLine?: ((line: string) => void) | undefined;
}

export interface ToolResult {
  /** Null where a signal ended it, or it never started. */
  exitCode: number | null;
  /** Why there is no exit code: `SIGKILL`, `no such file`, `time limit`. */
  fault: string | undefined;
  /** The last lines of both outputs. */
  tail: string[];
}

const tailLines = 40;
/** How long an output may stay open once the program has ended: a child of it may hold it for ever. */
const lingerMs = 1_000;
const killGraceMs = 2_000;

/**
 * Runs a program that is expected to come to an end: no input, a process group of its own, which is ended whole at the
 * time limit or when `signal` aborts. What it says is read as it comes and kept as far as its last lines.
 */
export async function runTool(run: ToolRun): Promise<ToolResult> {
  const tail = createLineTail(tailLines);
  const child = start(run);
  if ("fault" in child) return { exitCode: null, fault: child.fault, tail: [] };
  const { process: running } = child;
  let why: string | undefined;
  const end = (reason: string) => {
    why ??= reason;
    killGroup(running.pid, "SIGTERM");
    setTimeout(() => killGroup(running.pid, "SIGKILL"), killGraceMs).unref();
  };
  const timer = setTimeout(() => end("time limit"), run.timeoutMs);
  const onAbort = () => end("interrupted");
  run.signal?.addEventListener("abort", onAbort, { once: true });
  if (run.signal?.aborted) onAbort();
  const readers = [running.stdout, running.stderr].map((stream) => readLines(stream, tail, run.onLine));
  try {
    const exitCode = await running.exited;
    await Promise.race([Promise.all(readers.map(({ done }) => done)), Bun.sleep(lingerMs)]);
    const fault = why ?? (running.signalCode === null ? undefined : String(running.signalCode));
    return { exitCode: fault === undefined ? exitCode : null, fault, tail: tail.lines() };
  } finally {
    clearTimeout(timer);
    run.signal?.removeEventListener("abort", onAbort);
    for (const { stop } of readers) stop();
    // What it left behind in its group ends with it.
    killGroup(running.pid, "SIGKILL");
  }
}

type Started = { process: Bun.Subprocess<"ignore", "pipe", "pipe"> } | { fault: string };

function start({ argv, cwd, env }: ToolRun): Started {
  try {
    const options = { cwd, env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe", detached: true } as const;
    return { process: Bun.spawn([...argv], options) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT") return { fault: `"${argv[0]}" was not found` };
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function readLines(
  stream: ReadableStream<Uint8Array>,
  tail: ReturnType<typeof createLineTail>,
  onLine?: (line: string) => void,
) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let open = "";
  const take = (text: string) => {
    tail.push(text);
    if (onLine === undefined) return;
    const parts = (open + text).split("\n");
    open = (parts.pop() ?? "").slice(0, 4_096);
    for (const part of parts) onLine(part.replace(/\r$/, "").slice(0, 4_096));
  };
  const work = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      take(decoder.decode(value, { stream: true }));
    }
    if (open !== "") onLine?.(open);
  };
  const done = work().catch(() => undefined);
  return { done, stop: () => void reader.cancel().catch(() => undefined) };
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
