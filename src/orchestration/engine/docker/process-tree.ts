import { readdirSync, readFileSync } from "node:fs";
import { systemClock } from "../../../base/words/clock.ts";

/** One process of this machine. */
export interface Process {
  pid: number;
  parent: number;
  /** Pid of the process that began the session. */
  session: number;
  /** In ticks since the machine's start: with the pid it names one process for ever. */
  startedAt: number;
}

/** A line of `/proc/<pid>/stat`; undefined for a process that has ended and waits to be collected. Source: proc(5). */
export function parseStat(line: string): Process | undefined {
  // The name in brackets may hold anything, brackets too.
  const close = line.lastIndexOf(")");
  const [state = "Z", parent, , session, ...rest] = line.slice(close + 2).split(" ");
  if (close === -1 || state === "Z" || state === "X") return undefined;
  return {
    pid: Number.parseInt(line, 10),
    parent: Number(parent),
    session: Number(session),
    startedAt: Number(rest[15]),
  };
}

/**
 * Those of `roots` that still run and everything below them: children and theirs, and what stayed in the session of
 * one of them when a parent in between ended. A process that only got the pid of a root is not meant.
 */
export function treeOf(processes: readonly Process[], roots: readonly Process[]): Process[] {
  const startOf = new Map(roots.map(({ pid, startedAt }) => [pid, startedAt]));
  const members = new Set<number>();
  const isRoot = ({ pid, startedAt }: Process) => startOf.get(pid) === startedAt;
  const isBelow = ({ pid, parent, session }: Process) =>
    !members.has(pid) && (members.has(parent) || members.has(session));
  for (let more = processes.filter(isRoot); more.length > 0; more = processes.filter(isBelow)) {
    for (const { pid } of more) members.add(pid);
  }
  return processes.filter(({ pid }) => members.has(pid));
}

/** The process, when it runs in the cgroup of that container: its pid is of this machine then, and we may signal it. */
export function containerProcess(containerId: string, pid: number): Process | undefined {
  const inside = readText(`/proc/${pid}/cgroup`).includes(containerId);
  return inside && signal({ pid }, 0) !== "forbidden" ? readProcess(pid) : undefined;
}

/**
 * SIGHUP for the whole tree, SIGKILL for what is left of it after `graceMs`. The first signals are sent before this
 * returns; it resolves when all have ended, and rejects when they cannot be ended.
 */
export async function endTree(root: Process, graceMs: number): Promise<void> {
  // What was found once is followed on: when its parents have ended, nothing else tells where it belongs.
  let found = [root];
  const look = () => {
    found = treeOf(readProcesses(), found);
    return found;
  };
  for (const process of look()) signal(process, "SIGHUP");
  if (await allEnd(look, graceMs)) return;
  const deadline = performance.now() + killMs;
  // Again and again: what is being killed may start another.
  while (performance.now() < deadline) {
    for (const process of look()) signal(process, "SIGKILL");
    if (await allEnd(look, pollMs)) return;
  }
  throw new Error(`process ${root.pid} does not end`);
}

/** A process that SIGKILL has not ended by then waits in the kernel, for a disk that does not answer. */
const killMs = 10_000;
const pollMs = 50;

async function allEnd(look: () => Process[], withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let pause = 5; look().length > 0; pause = Math.min(pause * 2, pollMs)) {
    if (performance.now() > deadline) return false;
    await systemClock.sleep(pause);
  }
  return true;
}

function signal({ pid }: { pid: number }, what: NodeJS.Signals | 0): "sent" | "gone" | "forbidden" {
  try {
    process.kill(pid, what);
    return "sent";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM" ? "forbidden" : "gone";
  }
}

function readProcesses(): Process[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => readProcess(Number(pid)) ?? []);
}

function readProcess(pid: number): Process | undefined {
  return parseStat(readText(`/proc/${pid}/stat`));
}

/** Empty when it cannot be read: processes come and go. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
