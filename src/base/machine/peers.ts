import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Peer } from "../pure/admission.ts";
import { clientRowTexts, findRow, type SocketEnds, type SocketRow } from "../pure/socket-table.ts";
import { readOperators } from "./accounts.ts";
import { createOwners, type Owner, type QuickLook, type Wanted } from "./owner.ts";
import type { AskKernel } from "./socket-diag.ts";

interface PeerOptions {
  /** Name of the group whose members are let in. */
  group: string;
  /** The server's own. */
  uid: number;
  /** A search for one process may take this long. */
  timeoutMs: number;
  /** Where a process is looked for before that. */
  quick: QuickLook;
  /** Answers for one socket what the tables say; where it does not know, the tables are read. */
  ask?: AskKernel;
  proc?: string;
  etc?: string;
}

/** A socket that has ended already tells no address any more, although Bun's types say so. */
type Ends = Omit<SocketEnds, "remoteAddress"> & { remoteAddress: string | undefined };

interface Peers {
  /** Who holds the other end of a connection that came in on loopback. Never fails. */
  who(ends: Ends): Promise<Peer>;
}

/** A table is not a snapshot: rows can be passed over while others go. So it is read again before a client counts as gone. */
const readsMax = 3;

/**
 * Knows the clients of a loopback port by the kernel: `ask`, or `/proc/net/tcp` and `tcp6`, tell the user of a socket,
 * `/proc/PID/fd` the process that holds it. Connections that come in during a read share the next one, so that many of
 * them cost no more than one reader at work; the same goes for the search for processes. Source: proc_net_tcp(5), proc_pid_fd(5).
 */
export function createPeers(options: PeerOptions): Peers {
  const { group, uid: ownUid, timeoutMs, quick, ask, proc = "/proc", etc = "/etc" } = options;
  const tables = { tcp: freshReads(join(proc, "net/tcp")), tcp6: freshReads(join(proc, "net/tcp6")) };
  const search = searches(createOwners({ proc, timeoutMs, quick }));

  const rowOf = async (ends: SocketEnds): Promise<SocketRow | undefined> => {
    const asked = await ask?.(ends);
    if (asked !== undefined) return asked;
    const texts = clientRowTexts(ends);
    for (let reads = 0; reads < readsMax; reads++) {
      const row = texts.tcp === undefined ? undefined : findRow(await tables.tcp(), texts.tcp);
      // A kernel without IPv6 has no second table.
      const found = row ?? findRow(await tables.tcp6().catch(ifIpv4(texts.tcp)), texts.tcp6);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  const ownerOf = async ({ uid, inode }: SocketRow): Promise<Peer> => {
    const owner = await search({ uid, inode });
    if (owner.kind === "process" && owner.container !== undefined) return { kind: "container", id: owner.container.id };
    const engine = owner.kind === "process" ? engineName(proc, owner.pid) : undefined;
    if (engine !== undefined) return { kind: "engine", name: engine };
    // Only a server without root's rights is blind: what it knows then is the user, and it goes by that.
    return owner.kind === "process" || owner.blind ? { kind: "admitted", uid } : { kind: "gone" };
  };

  return {
    async who({ remoteAddress, ...ends }) {
      if (remoteAddress === undefined) return { kind: "gone" };
      try {
        const row = await rowOf({ ...ends, remoteAddress });
        if (row === undefined || row.inode === 0) return { kind: "gone" };
        const { uid } = row;
        if (uid !== 0 && uid !== ownUid) {
          const operators = await readOperators(etc, group);
          const user = operators.accounts.find((account) => account.uid === uid)?.name;
          if (!operators.group.members.has(uid)) return { kind: "stranger", uid, user, group: operators.group };
        }
        return await ownerOf(row);
      } catch (error) {
        return { kind: "unreadable", why: reason(error) };
      }
    },
  };
}

/** As the kernel names them. They fetch, as root, what a Dockerfile or an image reference says. */
const engines = new Set(["dockerd", "buildkitd", "containerd", "podman", "buildah"]);
/** A build fetches repositories by git, which starts a program for each protocol. */
const ancestorsMax = 4;

/** The engine that a process is, or that has started it. */
function engineName(proc: string, pid: string): string | undefined {
  let next: string | undefined = pid;
  for (let looks = 0; looks <= ancestorsMax && next !== undefined; looks++) {
    const { name, parent } = statOf(proc, next);
    if (engines.has(name)) return name;
    next = parent;
  }
  return undefined;
}

/** `70 (dockerd) S 1 …`: the name may hold any character. */
function statOf(proc: string, pid: string): { name: string; parent: string | undefined } {
  const [, name = "", parent] = /^\d+ \((.*)\) \S (\d+) /s.exec(statText(proc, pid)) ?? [];
  return { name, parent: parent === "0" ? undefined : parent };
}

/** At once: it is a memory read, and a client waits. Empty for a process that has ended. */
function statText(proc: string, pid: string): string {
  try {
    return readFileSync(join(proc, pid, "stat"), "utf8");
  } catch {
    return "";
  }
}

/** Why no client can be known here; undefined where all can. */
export async function tablesError(proc = "/proc"): Promise<string | undefined> {
  return readFile(join(proc, "net/tcp"), "latin1").then(() => undefined, reason);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ifIpv4(text: string | undefined): (error: unknown) => string {
  return (error) => {
    if (text === undefined) throw error;
    return "";
  };
}

/** One search at a time: what is asked for meanwhile is looked for together by the next. */
function searches(run: (wanted: readonly Wanted[]) => Promise<void>): (socket: SocketRow) => Promise<Owner> {
  let waiting: (Wanted & { failed: (error: unknown) => void })[] = [];
  let isBusy = false;
  const work = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await run(batch).catch((error: unknown) => {
        for (const { failed } of batch) failed(error);
      });
    }
    isBusy = false;
  };
  return (socket) =>
    new Promise((found, failed) => {
      waiting.push({ ...socket, found, failed });
      if (!isBusy) void work();
    });
}

/** Reads a file so that every caller gets a read that began after it asked; callers that wait share one. */
function freshReads(path: string): () => Promise<string> {
  let running: Promise<string> | undefined;
  let next: Promise<string> | undefined;
  const begin = () => {
    next = undefined;
    const mine = readFile(path, "latin1").finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  };
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
