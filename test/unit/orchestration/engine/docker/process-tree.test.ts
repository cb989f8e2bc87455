import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  containerProcess,
  endTree,
  parseStat,
  type Process,
  treeOf,
} from "../../../../../src/orchestration/engine/docker/process-tree.ts";
import { isAlive, waitFor } from "../../../../support/wait.ts";

const rest = (startedAt: number) => `0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 ${startedAt} 1000 10 99`;

describe("parseStat", () => {
  test("takes what it needs, whatever the name", () => {
    for (const name of ["sh", "a b", "x) S 1 (y", "()"]) {
      expect(parseStat(`42 (${name}) S 7 41 40 ${rest(12345)}`)).toEqual({
        pid: 42,
        parent: 7,
        session: 40,
        startedAt: 12345,
      });
    }
  });

  test("this very process is found in the real thing", () => {
    const found = parseStat(readFileSync("/proc/self/stat", "utf8"));
    expect(found).toMatchObject({ pid: process.pid, parent: process.ppid });
    expect(found?.startedAt).toBeGreaterThan(0);
  });

  test.each(["", "42 (sh) Z 7 41 40", "42 (sh) X 7 41 40", "42"])("%p is of no process", (line) => {
    expect(parseStat(line)).toBeUndefined();
  });
});

describe("treeOf", () => {
  const one = (pid: number, parent: number, session = parent): Process => ({ pid, parent, session, startedAt: pid });
  const root = one(10, 1, 10);
  const pids = (processes: Process[]) => processes.map(({ pid }) => pid);

  test("children and theirs, in whatever order they are listed, and nobody else's", () => {
    const listed = [one(13, 12), one(12, 11), one(11, 10, 10), root, one(20, 1), one(21, 20), one(1, 0)];
    expect(pids(treeOf(listed, [root])).sort()).toEqual([10, 11, 12, 13]);
  });

  test("what stayed in the session when its parent ended", () => {
    expect(pids(treeOf([root, one(14, 1, 10), one(15, 14, 15)], [root]))).toEqual([10, 14, 15]);
  });

  test("a process that has the pid of one that ended is somebody else", () => {
    const stranger = { ...root, startedAt: 999 };
    expect(treeOf([stranger, one(11, 10)], [root])).toEqual([]);
    expect(pids(treeOf([stranger, one(11, 10)], [root, one(11, 10)]))).toEqual([11]);
  });

  test("of nothing is empty, and a circle is no trap", () => {
    expect(treeOf([], [root])).toEqual([]);
    expect(pids(treeOf([one(10, 11, 10), one(11, 10)], [root]))).toEqual([10, 11]);
  });
});

describe("endTree", () => {
  const spawned: Bun.Subprocess[] = [];
  afterEach(async () => {
    for (const child of spawned.splice(0)) {
      child.kill("SIGKILL");
      await child.exited;
    }
  });
  /** A shell in a session of its own, once it has said that it is ready; with its children's pids, which it says first. */
  const shell = async (script: string) => {
    const child = Bun.spawn(["sh", "-c", script], { stdout: "pipe", stdin: "ignore", detached: true });
    spawned.push(child);
    const { value = new Uint8Array() } = await child.stdout.getReader().read();
    const children = Buffer.from(value).toString().trim().split(/\s+/).map(Number);
    const root = parseStat(readFileSync(`/proc/${child.pid}/stat`, "utf8"));
    if (root === undefined) throw new Error("the shell has ended");
    return { root, children };
  };

  test("ends parents and children, and leaves the rest alone", async () => {
    const bystander = await shell("sleep 100 & echo $!; wait");
    const { root, children } = await shell("sleep 100 & a=$!; setsid sleep 100 & echo $a $!; wait");
    await endTree(root, 5_000);
    expect([root.pid, ...children].filter(isAlive)).toEqual([]);
    expect([bystander.root.pid, ...bystander.children].every(isAlive)).toBe(true);
    await endTree(bystander.root, 5_000);
    await endTree(root, 5_000);
  });

  test("kills what does not listen, also when its parent did", async () => {
    const { root, children } = await shell("sh -c \"trap '' HUP; sleep 100 & echo \\$!; wait\" & wait");
    await waitFor("the child", () => children.every(isAlive));
    await endTree(root, 100);
    expect([root.pid, ...children].filter(isAlive)).toEqual([]);
  });
});

describe("containerProcess", () => {
  test("a process outside of the container, or none, is not the container's", () => {
    expect(containerProcess("f".repeat(64), process.pid)).toBeUndefined();
    expect(containerProcess("f".repeat(64), 2 ** 22 + 1)).toBeUndefined();
  });
});
