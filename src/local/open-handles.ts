import type { Log } from "../base/words/log.ts";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { heapStats } from "bun:jsc";
import { sleepsUnderWay } from "../base/words/clock.ts";

/** Objects of Bun that keep a process from ending. */
const keepers = ["Timeout", "Subprocess", "TCPSocket", "TLSSocket", "Worker", "FetchTasklet"];

/** What this process has open that can keep it from ending, in words: sockets, child processes, sleeps, timers. */
export function openHandles(): string[] {
  Bun.gc(true);
  const counts: Record<string, number> = heapStats().objectTypeCounts;
  const objects = keepers.flatMap((type) => (counts[type] === undefined ? [] : [`${counts[type]} × ${type}`]));
  const sleeps = sleepsUnderWay().map((ms) => `sleep of ${ms} ms`);
  return [...sleeps, ...openSockets(), ...children(), ...objects];
}

/** Says what keeps the process: a fault, unless it is a connection that nothing can cut off. */
export function tellOpen(log: Log): void {
  const open = openHandles();
  if (open.some(isBeingOpened)) log.info("ended while a connection was being opened", { open });
  else log.error("the process did not end by itself", { open });
}

/** A TCP connection that the other side has not answered yet (SYN_SENT): the runtime has no way to cut it off. */
export const isBeingOpened = (handle: string) => /^socket \d+: tcp6? \d+: \S+ \S+ 02 /.test(handle);

function openSockets(): string[] {
  const rows = ["unix", "tcp", "tcp6"].flatMap((table) =>
    read(`/proc/self/net/${table}`)
      .split("\n")
      .map((row) => `${table} ${row.trim().replaceAll(/\s+/g, " ")}`),
  );
  return names("/proc/self/fd").flatMap((fd) => {
    const inode = /^socket:\[(\d+)\]$/.exec(link(`/proc/self/fd/${fd}`))?.[1];
    if (inode === undefined) return [];
    return [`socket ${fd}: ${rows.find((row) => row.split(" ").includes(inode)) ?? "not in a table"}`];
  });
}

function children(): string[] {
  const pids = names("/proc/self/task").flatMap((task) => read(`/proc/self/task/${task}/children`).match(/\d+/g) ?? []);
  return pids.map((pid) => `child ${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim()}`);
}

function names(folder: string): string[] {
  return orElse(() => readdirSync(folder), []);
}

function read(file: string): string {
  return orElse(() => readFileSync(file, "utf8"), "");
}

function link(file: string): string {
  return orElse(() => readlinkSync(file), "");
}

/** What is gone by the time it is read is not open. */
function orElse<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
