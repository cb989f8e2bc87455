import { statSync } from "node:fs";
import { Failure } from "../../base/wire/failure.ts";
import type { Cgroup, Cgroups } from "./cgroups.ts";
import { asUser } from "./confinement.ts";
import { startOf } from "./program.ts";
import { readBoth } from "./reading.ts";
import { createSweeper, type Sweeper } from "./sweep.ts";

/** Times in milliseconds, sizes in bytes; `config.ts` says what each is for. */
export interface HostLimits {
  pluginStdoutBytesMax: number;
  pluginStderrBytesMax: number;
  pluginTailBytes: number;
  pluginKillGraceMs: number;
  pluginDrainMs: number;
  pluginsAtOnceMax: number;
}

interface HostOptions {
  limits: HostLimits;
  /** Variable that carries the id of a run; processes of the run are found by it, wherever they went. */
  runVariable: string;
  /** Id of this installation, used to find processes that a previous server left behind. Without it nothing is looked for. */
  owner?: string;
  /** Each run gets a group of its own, where the machine has them. */
  cgroups?: Cgroups;
  /** Path of setpriv of util-linux, which starts what runs as another user. */
  setpriv?: string | null;
}

/** One process to run. */
export interface Invocation {
  /** Id of the run; unique. */
  id: string;
  /** Program (absolute, or found on PATH) and words. */
  argv: readonly string[];
  /** Without any privilege; the server's own user where it is left out. */
  user?: number | undefined;
  folder: string;
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** Written and closed; undefined for none. */
  stdin: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Told each line of standard error as it comes. */
  onLine?: ((line: string) => void) | undefined;
}

export type Ending =
  | { how: "exited"; code: number }
  | { how: "signalled"; signal: string }
  | { how: "timed_out" }
  | { how: "cancelled" }
  /** The kernel ended it, or some of it, for want of memory. */
  | { how: "out_of_memory" }
  /** More came on the stream than is read. */
  | { how: "flooded"; stream: "standard output" | "standard error" };

export interface Finished {
  ending: Ending;
  stdout: Uint8Array;
  /** The last part of standard error. */
  stderr: string;
}

export interface Host {
  /**
   * Runs a process to its end, and ends everything that it left behind. Holds nothing while it waits. Fails
   * `not_found` or `invalid` when the program cannot be started, `unavailable` when too many run already.
   */
  run(invocation: Invocation): Promise<Finished>;
  /** Runs under way. */
  running(): number;
  /** Ends what is left of runs of a server that died; before the first run of this one. */
  endLeftovers(): Promise<void>;
  /** Ends every run. */
  close(): Promise<void>;
}

export function createHost({ limits, runVariable, owner, cgroups, setpriv }: HostOptions): Host {
  const prefix = owner === undefined ? "" : `${owner}.`;
  const sweeper = createSweeper(runVariable);
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const ids = new Set<string>();
  return {
    running: () => underWay.size,
    endLeftovers: async () => {
      if (prefix === "") return;
      const isLeft = (run: string) => run.startsWith(prefix) && !ids.has(run);
      await cgroups?.endAll(isLeft);
      await sweeper.all(isLeft);
    },
    run(invocation) {
      if (underWay.size >= limits.pluginsAtOnceMax) return Promise.reject(tooMany(limits.pluginsAtOnceMax));
      const id = `${prefix}${invocation.id}`;
      const env = { ...invocation.env, [runVariable]: id };
      ids.add(id);
      const conditions = { limits, sweeper, cgroup: cgroups?.open(id), setpriv, closing: closing.signal };
      const work = run({ ...invocation, id, env }, conditions).finally(async () => {
        await conditions.cgroup?.end();
        ids.delete(id);
      });
      underWay.add(work);
      return work.finally(() => underWay.delete(work));
    },
    async close() {
      closing.abort();
      await Promise.allSettled(underWay);
      await sweeper.close();
    },
  };
}

function tooMany(most: number): Failure {
  return new Failure("unavailable", `${most} plugins run already; try again in a moment`, { retryAfterSeconds: 2 });
}

interface RunConditions {
  limits: HostLimits;
  sweeper: Sweeper;
  cgroup: Cgroup | undefined;
  setpriv: string | null | undefined;
  closing: AbortSignal;
}

async function run(invocation: Invocation, conditions: RunConditions): Promise<Finished> {
  const { limits, sweeper, cgroup, closing } = conditions;
  const child = spawn(invocation, conditions);
  let ended: Ending | undefined;
  const end = (ending: Ending) => {
    if (ended !== undefined) return;
    ended = ending;
    // What floods is not heard any more, so it has nothing to say on its way out.
    if (ending.how === "flooded") killGroup(child.pid);
    else stopGroup(child, limits.pluginKillGraceMs);
  };
  const timer = setTimeout(() => end({ how: "timed_out" }), invocation.timeoutMs);
  const onAbort = () => end({ how: "cancelled" });
  const signals = invocation.signal === undefined ? [closing] : [closing, invocation.signal];
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  if (signals.some(({ aborted }) => aborted)) onAbort();
  try {
    const onFlood = (stream: "standard output" | "standard error") => end({ how: "flooded", stream });
    const reading = readBoth(child, { limits, onLine: invocation.onLine, onFlood });
    await child.exited;
    await reading.settle(limits.pluginDrainMs);
    const isOpen = reading.isOpen();
    const isLeft = killGroup(child.pid);
    // A group of its own holds all of it; else it has to be looked for.
    if (cgroup === undefined && (ended !== undefined || isOpen || isLeft)) await sweeper.now(invocation.id);
    else if (cgroup === undefined) sweeper.later(invocation.id);
    reading.cancel();
    const ending = ended ?? endingOf(child, cgroup);
    return { ending, stdout: reading.stdout(), stderr: reading.stderr() };
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}

type Child = Bun.Subprocess<Uint8Array | "ignore", "pipe", "pipe">;

/** `detached` makes the child the head of a group of its own, so that what it starts can be ended with it. */
function spawn({ argv, folder, env, stdin, user }: Invocation, conditions: RunConditions): Child {
  const [name = "", ...words] = argv;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new Failure("not_found", `the plugin's folder "${folder}" is gone; install the plugin again`);
  }
  const input = stdin === undefined ? ("ignore" as const) : new TextEncoder().encode(stdin);
  const start = startOf(name, env.PATH);
  const program = [...start.words, ...words];
  const own = user === undefined ? program : asUser(conditions.setpriv ?? "setpriv", user, program);
  const whole = conditions.cgroup === undefined ? own : inside(conditions.cgroup, own);
  try {
    return Bun.spawn(whole, {
      cwd: folder,
      env: { ...env, ...start.env },
      stdin: input,
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid", `"${name}" cannot be started: ${text}`, { cause });
  }
}

/** Enters the group before it becomes the program, which so never runs outside. */
const enter = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 126; shift; done; shift; exec "$@"';

function inside({ entries }: Cgroup, argv: readonly string[]): string[] {
  return ["/bin/sh", "-c", enter, "sh", ...entries, "--", ...argv];
}

function endingOf(child: Child, cgroup: Cgroup | undefined): Ending {
  if (child.exitCode !== 0 && cgroup?.ranOutOfMemory() === true) return { how: "out_of_memory" };
  if (child.signalCode !== null) return { how: "signalled", signal: String(child.signalCode) };
  return { how: "exited", code: child.exitCode ?? -1 };
}

/** Asks the group to end, and ends it after the grace. */
function stopGroup(child: Child, graceMs: number): void {
  signalGroup(child.pid, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), graceMs);
  void child.exited.finally(() => clearTimeout(timer));
}

/** Whether somebody of the group was still there. */
function killGroup(pid: number): boolean {
  return signalGroup(pid, "SIGKILL");
}

function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
