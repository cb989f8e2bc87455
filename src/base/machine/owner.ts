import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { containerOf } from "../pure/admission.ts";

/** Links that are read before the event loop gets its turn again. */
const linksPerTurn = 500;

export type Owner =
  | { kind: "process"; pid: string; container: { id: string | undefined } | undefined }
  /** `blind`: some processes are not shown to this server, so the owner may be one of them. */
  | { kind: "unknown"; blind: boolean };

export interface Wanted {
  /** The inode of the socket. */
  inode: number;
  /** The user who made the socket: processes of this user are looked at first. */
  uid: number;
  /** Told once. */
  found: (owner: Owner) => void;
}

/** How far the quick look goes before all processes are searched. */
export interface QuickLook {
  /** Processes that held a client's socket before, and the descriptors that are looked at around the one of then. */
  recentMax: number;
  descriptorsAround: number;
  /** How many process ids below the newest are looked at, and descriptors of all of them. */
  newestMax: number;
  linksMax: number;
}

interface OwnersOptions {
  /** `/proc`. */
  proc: string;
  /** A search over all processes fails after this. */
  timeoutMs: number;
  quick: QuickLook;
}

/**
 * Finds the process that holds a socket. The processes that held sockets before and the newest ones are looked at
 * first: a client is nearly always one of them. What is remembered only says where to look first. Each answer is read
 * from the kernel again, so a process id that another process has taken cannot pass for the one of before.
 */
export function createOwners({ proc, timeoutMs, quick }: OwnersOptions): (wanted: readonly Wanted[]) => Promise<void> {
  /** Process ids and descriptors, the latest last. Containers cannot push out the processes of the machine. */
  const recent = { machine: new Map<string, number>(), container: new Map<string, number>() };

  const remember = (of: Map<string, number>, pid: string, descriptor: string): void => {
    of.delete(pid);
    of.set(pid, Number(descriptor));
    for (const oldest of of.keys()) {
      if (of.size <= quick.recentMax) return;
      of.delete(oldest);
    }
  };

  const inRecent = (of: Map<string, number>, target: string): Owner | undefined => {
    for (const [pid, last] of [...of].reverse()) {
      if (uidOf(proc, pid) === undefined) of.delete(pid);
      else {
        for (let step = 0; step <= quick.descriptorsAround; step++) {
          for (const descriptor of step === 0 ? [last] : [last + step, last - step]) {
            const owner = held(pid, String(descriptor), target);
            if (owner !== undefined) return owner;
          }
        }
      }
    }
    return undefined;
  };

  const inNewest = ({ uid, inode }: Wanted): Owner | undefined => {
    const newest = newestPid(proc);
    let links = 0;
    for (let id = newest; id > Math.max(0, newest - quick.newestMax); id--) {
      const pid = processOf(proc, String(id));
      const user = uidOf(proc, pid);
      const names = user === 0 || user === uid ? namesIn(join(proc, pid, "fd")) : [];
      for (const name of names === "denied" ? [] : names) {
        if (++links > quick.linksMax) return undefined;
        const owner = held(pid, name, targetOf(inode));
        if (owner !== undefined) return owner;
      }
    }
    return undefined;
  };

  /** The process, if this descriptor of it is the socket, and still is once it is known what the process is. */
  const held = (pid: string, descriptor: string, target: string): Owner | undefined => {
    const path = join(proc, pid, "fd", descriptor);
    if (linkOf(path) !== target) return undefined;
    const start = startOf(proc, pid);
    const container = containerFacts(proc, pid);
    if (container === "ended" || linkOf(path) !== target || startOf(proc, pid) !== start) return undefined;
    remember(container === undefined ? recent.machine : recent.container, pid, descriptor);
    return { kind: "process", pid, container };
  };

  /** One pass over all processes: the newest first, and those that can be meant before all others. */
  const inAll = async (wanted: readonly Wanted[]): Promise<void> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const open = Map.groupBy(wanted, ({ inode }) => targetOf(inode));
    const uids = new Set([0, ...wanted.map(({ uid }) => uid)]);
    const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
    pids.sort((a, b) => Number(b) - Number(a));
    let blind = false;
    let links = 0;
    for (const pid of likelyFirst(pids, (it) => uids.has(uidOf(proc, it) ?? -1))) {
      const folder = join(proc, pid, "fd");
      const names = namesIn(folder);
      if (names === "denied") blind = true;
      else {
        for (const name of names) {
          const link = linkOf(join(folder, name)) ?? "";
          const owner = open.has(link) ? held(pid, name, link) : undefined;
          if (owner !== undefined) {
            for (const { found } of open.get(link) ?? []) found(owner);
            open.delete(link);
            if (open.size === 0) return;
          }
          links++;
          if (links % linksPerTurn === 0) await nextTurn();
        }
      }
      signal.throwIfAborted();
    }
    for (const { found } of [...open.values()].flat()) found({ kind: "unknown", blind });
  };

  return async (wanted) => {
    const left: Wanted[] = [];
    for (const socket of wanted) {
      const target = targetOf(socket.inode);
      const owner = inRecent(recent.machine, target) ?? inRecent(recent.container, target) ?? inNewest(socket);
      if (owner === undefined) left.push(socket);
      else socket.found(owner);
      await nextTurn();
    }
    if (left.length > 0) await inAll(left);
  };
}

function targetOf(inode: number): string {
  return `socket:[${inode}]`;
}

/** All of them; whether one is likely is asked only when its turn comes. */
function* likelyFirst(pids: string[], isLikely: (pid: string) => boolean): Generator<string> {
  const others: string[] = [];
  for (const pid of pids) {
    if (isLikely(pid)) yield pid;
    else others.push(pid);
  }
  yield* others;
}

/** Undefined for a process of the machine itself, as far as this server can see. */
function containerFacts(proc: string, pid: string): { id: string | undefined } | undefined | "ended" {
  const own = containerOf(textOf(join(proc, "self/cgroup")));
  const id = containerOf(textOf(join(proc, pid, "cgroup")));
  if (id !== undefined && id !== own) return { id };
  const [space, ownSpace] = [linkOf(join(proc, pid, "ns/pid")), linkOf(join(proc, "self/ns/pid"))];
  if (space === ownSpace) return undefined;
  return space === undefined ? "ended" : { id: undefined };
}

/** The last process id that was given out; 0 where the kernel does not say. */
function newestPid(proc: string): number {
  return Number(textOf(join(proc, "loadavg")).trim().split(" ")[4] ?? 0) || 0;
}

/** Threads have numbers of the same kind; what is known of a process goes by its own. */
function processOf(proc: string, id: string): string {
  return /^Tgid:\s+(\d+)$/m.exec(textOf(join(proc, id, "status")))?.[1] ?? id;
}

/** When the process started, in ticks after the start of the machine: the 22nd field, after a name with any characters. */
function startOf(proc: string, pid: string): string | undefined {
  const text = textOf(join(proc, pid, "stat"));
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
}

function uidOf(proc: string, pid: string): number | undefined {
  return statSync(join(proc, pid), { throwIfNoEntry: false })?.uid;
}

function namesIn(folder: string): string[] | "denied" {
  try {
    return readdirSync(folder);
  } catch (error) {
    // A process that has ended holds nothing.
    return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM")
      ? "denied"
      : [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
