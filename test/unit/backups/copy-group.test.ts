import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "bun:test";
import { createCopyGroup, hasNoScope, scopeWords } from "../../../src/backups/restic/copy-group.ts";
import { silentLog } from "../../support/silent-log.ts";

const share = { copyCpuWeight: 10, copyMemoryHighBytes: 1_000 };
const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A machine that has these files; folders are made for them. */
function machine(files: Record<string, string>, { isRoot = true, succeeds = true } = {}) {
  const root = mkdtempSync(join(tmpdir(), "berth-group."));
  made.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const asked: string[][] = [];
  const words = createCopyGroup(share, silentLog, {
    ...{ isRoot, root },
    async succeeds(command) {
      asked.push([...command]);
      return succeeds;
    },
  });
  return { root, words, asked, read: (path: string) => readFileSync(join(root, path), "utf8") };
}

const separate = {
  "proc/self/cgroup": "5:memory:/pods/a\n3:cpu,cpuacct:/pods/b\n0::/pods/c\n",
  "sys/fs/cgroup/cpu,cpuacct/pods/b/cgroup.procs": "",
};
const unified = { "sys/fs/cgroup/cgroup.controllers": "cpu memory", "sys/fs/cgroup/cgroup.subtree_control": "" };

/** What a command leaves in the file through which it enters, in a machine whose groups are plain files. */
function entered(words: readonly string[], { root, read }: ReturnType<typeof machine>, folder: string) {
  const child = Bun.spawnSync([...words, "echo", "a b", "$c"], { cwd: root });
  expect(child.stdout.toString()).toBe("a b $c\n");
  return read(`sys/fs/cgroup/${folder}/berth-copies/cgroup.procs`);
}

describe("the control group of copies", () => {
  test("is a scope of systemd where that runs, and nothing else of its tree is touched", async () => {
    const given = machine({ ...unified, "run/systemd/system/x": "" });
    expect(await given.words()).toEqual(scopeWords(share));
    expect(given.asked).toEqual([[...scopeWords(share), "true"]]);
    expect(scopeWords(share)).toContain("--property=CPUWeight=10");
    expect(scopeWords(share)).toContain("--property=MemoryHigh=1000");
    await given.words();
    expect(given.asked).toHaveLength(1);
    expect(given.read("sys/fs/cgroup/cgroup.subtree_control")).toBe("");
  });

  test("is beside the containers in version 2", async () => {
    const given = machine(unified);
    const words = await given.words();
    expect(given.read("sys/fs/cgroup/cgroup.subtree_control")).toBe("+cpu +memory");
    expect(given.read("sys/fs/cgroup/berth-copies/cpu.weight")).toBe("10");
    expect(given.read("sys/fs/cgroup/berth-copies/memory.high")).toBe("1000");
    expect(entered(words, given, ".")).toBe("0\n");
  });

  test("is within the server's own in version 1, and shares out the processors", async () => {
    const given = machine(separate);
    const words = await given.words();
    const own = "cpu,cpuacct/pods/b";
    expect(given.read(`sys/fs/cgroup/${own}/berth-copies/cpu.shares`)).toBe("102");
    expect(entered(words, given, own)).toBe("0\n");
  });

  test("is at the root of what a container sees in version 1", async () => {
    const given = machine({ ...separate, "sys/fs/cgroup/cpu/cgroup.procs": "" });
    rmSync(join(given.root, "sys/fs/cgroup/cpu,cpuacct"), { recursive: true });
    expect(entered(await given.words(), given, "cpu")).toBe("0\n");
  });

  test("is none where the machine gives none", async () => {
    expect(await machine({}).words()).toEqual([]);
    const { "sys/fs/cgroup/cpu,cpuacct/pods/b/cgroup.procs": _, ...files } = separate;
    expect(await machine(files, { isRoot: false }).words()).toEqual([]);
    expect(await machine({ "proc/self/cgroup": "0::/\n" }).words()).toEqual([]);
    expect(await machine(unified, { isRoot: false }).words()).toEqual([]);
    expect(await machine({ "run/systemd/system/x": "" }, { succeeds: false }).words()).toEqual([]);
  });

  test("is entered also when it is gone: the command goes on", async () => {
    const given = machine(separate);
    const words = await given.words();
    rmSync(join(given.root, "sys"), { recursive: true });
    expect(Bun.spawnSync([...words, "echo", "on"]).stdout.toString()).toBe("on\n");
  });
});

test("a command that systemd has not started is told from one that failed", () => {
  const words = scopeWords(share);
  expect(hasNoScope(words, 1, "Failed to connect to bus: No such file or directory\n")).toBe(true);
  expect(hasNoScope(words, 1, "Job for run-1.scope failed.\n")).toBe(true);
  expect(hasNoScope(words, 1, "Fatal: unable to open config file\n")).toBe(false);
  expect(hasNoScope(words, 3, "Failed to read\n")).toBe(false);
  expect(hasNoScope(["sh"], 1, "Failed to connect\n")).toBe(false);
});
