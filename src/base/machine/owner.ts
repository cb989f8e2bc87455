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
  /** Of the socket. */
  inode: number;
  /** Of the socket's maker: processes of this user are looked at first. */
  uid: number;
  /** Told once. */
  found: (owner: Owner) => void;
}

interface Search {
  /** `/proc`. */
  proc: string;
  wanted: readonly Wanted[];
  /** When to give up: the search fails then. */
  signal: AbortSignal;
}

/**
 * The processes that hold some sockets, in one pass over all processes. The newest come first, and those that can be
 * meant before all others: a client is found after a few, and what strangers hold open does not make the search longer.
 */
export async function findOwners({ proc, wanted, signal }: Search): Promise<void> {
  const open = Map.groupBy(wanted, ({ inode }) => `socket:[${inode}]`);
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
        for (const { found } of open.get(link) ?? []) {
          found({ kind: "process", pid, container: container(proc, pid) });
        }
        open.delete(link);
        if (open.size === 0) return;
        links++;
        if (links % linksPerTurn === 0) await nextTurn();
      }
    }
    signal.throwIfAborted();
  }
  for (const { found } of [...open.values()].flat()) found({ kind: "unknown", blind });
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
function container(proc: string, pid: string): { id: string | undefined } | undefined {
  const own = containerOf(textOf(join(proc, "self/cgroup")));
  const id = containerOf(textOf(join(proc, pid, "cgroup")));
  if (id !== undefined && id !== own) return { id };
  const space = linkOf(join(proc, pid, "ns/pid"));
  return space === undefined || space === linkOf(join(proc, "self/ns/pid")) ? undefined : { id: undefined };
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
