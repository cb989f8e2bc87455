import { open } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";
import { type Begun, type Launch, outputFile, type RunEnd } from "./launch.ts";

interface LaunchProgramOptions {
  /** Path of HAProxy. */
  program: string;
  /** Starts the master instead, as a service of its own: a command that ends once the service manager has started it. */
  starter: readonly string[] | undefined;
  logFile: string;
  logBytesMax: number;
  /** Until a run or a start is given up. */
  startMs: number;
}

/** The HAProxy that is installed on this machine. */
export function launchProgram(options: LaunchProgramOptions): Launch {
  const { program, starter, logFile, logBytesMax, startMs } = options;
  return {
    ...outputFile(logFile, logBytesMax),
    once: (args) => finished([program, ...args], startMs),
    begin: (args) => (starter === undefined ? detached([program, ...args], logFile) : asService(starter, startMs)),
  };
}

/** Nothing ties it to this process: no pipe, no terminal, a session of its own. */
async function detached(command: string[], logFile: string): Promise<Begun> {
  const log = await open(logFile, "a", 0o640);
  try {
    const child = Bun.spawn(command, {
      stdin: "ignore",
      stdout: log.fd,
      stderr: log.fd,
      detached: true,
      // It lives longer than this process, whose environment may hold secrets.
      env: {},
      cwd: "/",
    });
    child.unref();
    return {
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      letGo: () => undefined,
      giveUp: () => child.kill("SIGKILL"),
    };
  } finally {
    await log.close();
  }
}

async function asService(starter: readonly string[], startMs: number): Promise<Begun> {
  const { exitCode, stderr } = await finished(starter, startMs);
  if (exitCode !== 0) {
    throw new Failure("conflict", `HAProxy did not start by "${starter.join(" ")}": ${stderr.trim().slice(0, 500)}`);
  }
  return { hasEnded: () => false, letGo: () => undefined, giveUp: () => undefined };
}

async function finished(command: readonly string[], timeout: number): Promise<RunEnd> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { exitCode: await child.exited, stdout, stderr };
}
