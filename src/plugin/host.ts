import { statSync } from "node:fs";
import { Failure } from "../api/failure.ts";
import { createTail } from "./output.ts";
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

export interface HostOptions {
  limits: HostLimits;
  /** Variable that carries the id of a run; processes of the run are found by it, wherever they went. */
  runVariable: string;
  /** Of this installation: what its server of before left behind is known by it. Without it nothing is looked for. */
  owner?: string;
}

/** One process to run. */
export interface Invocation {
  /** Of the run; unique. */
  id: string;
  /** Program (absolute) and words. */
  argv: readonly string[];
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

export function createHost({ limits, runVariable, owner }: HostOptions): Host {
  const prefix = owner === undefined ? "" : `${owner}.`;
  const sweeper = createSweeper(runVariable);
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  return {
    running: () => underWay.size,
    endLeftovers: async () => {
      if (prefix !== "") await sweeper.all(prefix);
    },
    run(invocation) {
      if (underWay.size >= limits.pluginsAtOnceMax) return Promise.reject(tooMany(limits.pluginsAtOnceMax));
      const id = `${prefix}${invocation.id}`;
      const env = { ...invocation.env, [runVariable]: id };
      const work = run({ ...invocation, id, env }, { limits, sweeper, closing: closing.signal });
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

interface Around {
  limits: HostLimits;
  sweeper: Sweeper;
  closing: AbortSignal;
}

async function run(invocation: Invocation, { limits, sweeper, closing }: Around): Promise<Finished> {
  const child = spawn(invocation);
  let ended: Ending | undefined;
  const end = (ending: Ending) => {
    if (ended !== undefined) return;
    ended = ending;
    stopGroup(child, limits.pluginKillGraceMs);
  };
  const timer = setTimeout(() => end({ how: "timed_out" }), invocation.timeoutMs);
  const onAbort = () => end({ how: "cancelled" });
  const signals = invocation.signal === undefined ? [closing] : [closing, invocation.signal];
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  if (signals.some(({ aborted }) => aborted)) onAbort();
  try {
    const reading = readBoth(child, { invocation, limits, end });
    await child.exited;
    await reading.settle(limits.pluginDrainMs);
    const isOpen = reading.isOpen();
    const isLeft = killGroup(child.pid);
    if (ended !== undefined || isOpen || isLeft) await sweeper.now(invocation.id);
    else sweeper.later(invocation.id);
    reading.cancel();
    return { ending: ended ?? endingOf(child), stdout: reading.stdout(), stderr: reading.stderr() };
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}

type Child = Bun.Subprocess<Uint8Array | "ignore", "pipe", "pipe">;

/** `detached` makes the child the head of a group of its own, so that what it starts can be ended with it. */
function spawn({ argv, folder, env, stdin }: Invocation): Child {
  const program = argv[0] ?? "";
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new Failure("not_found", `the plugin's folder "${folder}" is gone; install the plugin again`);
  }
  const input = stdin === undefined ? ("ignore" as const) : new TextEncoder().encode(stdin);
  try {
    return Bun.spawn([...argv], { cwd: folder, env, stdin: input, stdout: "pipe", stderr: "pipe", detached: true });
  } catch (cause) {
    throw spawnFailure(program, cause);
  }
}

function spawnFailure(program: string, cause: unknown): Failure {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "EACCES") return new Failure("invalid", `"${program}" is not executable; chmod +x it`, { cause });
  if (code === "ENOENT") {
    const hint = "it, or the interpreter in its first line, is missing; install the plugin again";
    return new Failure("not_found", `"${program}" cannot be started: ${hint}`, { cause });
  }
  const text = cause instanceof Error ? cause.message : String(cause);
  return new Failure("invalid", `"${program}" cannot be started: ${text}`, { cause });
}

function endingOf(child: Child): Ending {
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

interface Reading {
  /** Resolves when both streams have ended, at the latest after `ms`: a grandchild may hold them open. */
  settle(ms: number): Promise<void>;
  isOpen(): boolean;
  cancel(): void;
  stdout(): Uint8Array;
  stderr(): string;
}

interface ReadOptions {
  invocation: Invocation;
  limits: HostLimits;
  end: (ending: Ending) => void;
}

/** Both streams are read from the start: an unread pipe would grow without a bound. */
function readBoth(child: Child, { invocation, limits, end }: ReadOptions): Reading {
  const chunks: Uint8Array[] = [];
  const tail = createTail(limits.pluginTailBytes, invocation.onLine);
  const readers = [child.stdout.getReader(), child.stderr.getReader()] as const;
  const open = new Set(readers);
  const finished = Promise.all([
    drain(readers[0], limits.pluginStdoutBytesMax, {
      take: (chunk) => chunks.push(chunk),
      full: () => end({ how: "flooded", stream: "standard output" }),
    }).finally(() => open.delete(readers[0])),
    drain(readers[1], limits.pluginStderrBytesMax, {
      take: tail.push,
      full: () => end({ how: "flooded", stream: "standard error" }),
    }).finally(() => open.delete(readers[1])),
  ]);
  return {
    async settle(ms) {
      if (open.size === 0) return;
      let timer: Timer | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([finished, late]);
      clearTimeout(timer);
    },
    isOpen: () => open.size > 0,
    cancel() {
      for (const reader of open) reader.cancel().catch(() => undefined);
    },
    stdout: () => new Uint8Array(Buffer.concat(chunks)),
    stderr: tail.text,
  };
}

interface Reader {
  read(): Promise<{ value?: Uint8Array | undefined; done: boolean }>;
}

/** Reads to the end. What comes after `bytesMax` is read and dropped, so that the pipe never fills up. */
async function drain(
  reader: Reader,
  bytesMax: number,
  { take, full }: { take: (chunk: Uint8Array) => void; full: () => void },
): Promise<void> {
  let total = 0;
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) return;
    total += value.byteLength;
    if (total > bytesMax) full();
    else take(value);
  }
}
