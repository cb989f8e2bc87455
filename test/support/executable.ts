import { existsSync } from "node:fs";
import { join } from "node:path";
import { patienceMs } from "./wait.ts";

/** The compiled executable; `bun run build` makes it. */
export const executable = join(import.meta.dir, "../../dist/berth");

export interface Finished {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Environment of the test itself without what would reach an installation of this machine. */
function quietEnvironment(extra: Record<string, string>): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("BERTH_") && name !== "DOCKER_HOST");
  const env: Record<string, string> = {};
  for (const [name, value] of kept) if (value !== undefined) env[name] = value;
  return { ...env, NO_COLOR: "1", ...extra };
}

/** Runs `berth ARGS` to its end. */
export async function berth(
  args: string[],
  options: { env?: Record<string, string>; stdin?: string; cwd?: string } = {},
): Promise<Finished> {
  const run = Bun.spawn([found(), ...args], {
    stdin: new Blob([options.stdin ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
    env: quietEnvironment(options.env ?? {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const [stdout, stderr] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  return { exitCode: await run.exited, stdout, stderr };
}

export interface Server {
  pid: number;
  /** Fields of the `ready` line: the bound addresses. */
  ready: Record<string, unknown>;
  /** All JSON lines and other text so far. */
  output(): string;
  /**
   * Sends the signal (SIGTERM by default) and resolves with the exit code once it has ended. Rejects where the process
   * had to be cut off, with what it had open.
   */
  stop(signal?: NodeJS.Signals): Promise<number>;
}

/**
 * Starts `berth serve ARGS` and resolves when it prints its `ready` line; rejects with its output when it ends first
 * or takes longer than `timeoutMs`. `program` is another copy of the executable.
 */
export async function serve(
  args: string[],
  options: { env?: Record<string, string>; timeoutMs?: number; program?: string } = {},
): Promise<Server> {
  const run = Bun.spawn([options.program ?? found(), "serve", ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // Servers of tests do not compete for ports 80 and 443 of the machine.
    env: quietEnvironment({ BERTH_INGRESS_HTTP_ADDR: "", BERTH_INGRESS_HTTPS_ADDR: "", ...options.env }),
  });
  let text = "";
  const ready = Promise.withResolvers<Record<string, unknown>>();
  let isReady = false;
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      // A server that logs each request must not have its whole log read again for each of them.
      const line = isReady ? undefined : readyLine(text);
      if (line === undefined) continue;
      isReady = true;
      ready.resolve(line);
    }
  };
  const streams = [collect(run.stdout), collect(run.stderr)];
  const failed = (why: string) => ready.reject(new Error(`berth serve ${why}:\n${text}`));
  const timer = setTimeout(() => failed("was not ready in time"), options.timeoutMs ?? patienceMs);
  void run.exited.then(async (code) => {
    await Promise.all(streams);
    failed(`ended with exit code ${code}`);
  });
  try {
    const stop = async (signal?: NodeJS.Signals) => {
      const code = await end(run, signal);
      await Promise.all(streams);
      const cutOff = text.split("\n").find((line) => line.includes("the process did not end by itself"));
      if (cutOff !== undefined) throw new Error(cutOff);
      return code;
    };
    return { pid: run.pid, ready: await ready.promise, output: () => text, stop };
  } catch (error) {
    await end(run, "SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function end(run: Bun.Subprocess, signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
  run.kill(signal);
  return run.exited;
}

/** The JSON line with message `ready`, when `text` has it whole. */
export function readyLine(text: string): Record<string, unknown> | undefined {
  for (const line of text.split("\n").slice(0, -1)) {
    if (!line.includes('"ready"')) continue;
    const entry: unknown = JSON.parse(line);
    if (isRecord(entry) && entry.message === "ready") return entry;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function found(): string {
  if (!existsSync(executable)) throw new Error(`no ${executable}; run: bun run build`);
  return executable;
}
