import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  findCgroup,
  namedCgroups,
  readCounters,
  type SystemRoots,
  usualCgroups,
} from "../../../../../src/orchestration/engine/docker/cgroup.ts";

const id = "ab".repeat(32);
let folder: string;
let roots: SystemRoots;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cgroup-"));
  roots = { cgroup: join(folder, "cgroup"), proc: join(folder, "proc") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Files by path below the fixture's root. */
const plant = (files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};
const version2 = (path: string) => ({
  [`cgroup/${path}/cpu.stat`]: "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n",
  [`cgroup/${path}/memory.current`]: "9000000\n",
  [`cgroup/${path}/memory.stat`]: "anon 1\nfile 5\nactive_file 7\ninactive_file 4000000\n",
  [`cgroup/${path}/memory.max`]: "67108864\n",
  [`cgroup/${path}/pids.current`]: "3\n",
});
const version1 = (path: string, cpu = "cpuacct") => ({
  [`cgroup/${cpu}/${path}/cpuacct.usage`]: "1500000\n",
  [`cgroup/memory/${path}/memory.usage_in_bytes`]: "9000000\n",
  [`cgroup/memory/${path}/memory.stat`]: "inactive_file 5\ntotal_inactive_file 4000000\ntotal_active_file 7\n",
  [`cgroup/memory/${path}/memory.limit_in_bytes`]: "9223372036854771712\n",
  [`cgroup/pids/${path}/pids.current`]: "3\n",
});
const read = { cpuNanos: 1_500_000, memoryBytes: 5_000_000, pids: 3 };
const noPid = () => Promise.reject(new Error("the usual places are enough"));
const find = async (pid: () => Promise<number | undefined> = noPid) => {
  const cgroup = await findCgroup(roots, id, pid);
  const counters = cgroup && readCounters(cgroup);
  if (counters === undefined) return undefined;
  const { texts: _, ...figures } = counters;
  return figures;
};

describe("the usual places", () => {
  test.each([`docker/${id}`, `system.slice/docker-${id}.scope`])("version 2: %s", async (path) => {
    plant(version2(path));
    expect(await find()).toEqual({ ...read, memoryLimitBytes: 67_108_864 });
  });

  test.each([`docker/${id}`, `system.slice/docker-${id}.scope`])("version 1: %s", async (path) => {
    plant(version1(path));
    expect(await find()).toEqual({ ...read, memoryLimitBytes: 2 ** 63 - 4096 });
  });

  test("are of this container only", () => {
    for (const { cpu } of usualCgroups("/r", id)) expect(cpu).toContain(id);
  });
});

describe("elsewhere, by the process", () => {
  const parent = `/user.slice/custom/docker-${id}.scope`;

  test("version 2", async () => {
    plant({ ...version2(parent.slice(1)), "proc/77/cgroup": `0::${parent}\n` });
    expect(await find(async () => 77)).toEqual({ ...read, memoryLimitBytes: 67_108_864 });
  });

  test("version 1, each controller where its row says", async () => {
    const rows = `4:memory:/m/${id}\n3:pids:/p/${id}\n2:cpu,cpuacct:/c/${id}\n1:name=systemd:/s/${id}\n`;
    plant({
      [`cgroup/cpu,cpuacct/c/${id}/cpuacct.usage`]: "42\n",
      [`cgroup/memory/m/${id}/memory.usage_in_bytes`]: "7\n",
      [`cgroup/memory/m/${id}/memory.limit_in_bytes`]: "8\n",
      [`cgroup/pids/p/${id}/pids.current`]: "9\n",
      "proc/77/cgroup": rows,
    });
    expect(await find(async () => 77)).toEqual({ cpuNanos: 42, memoryBytes: 7, memoryLimitBytes: 8, pids: 9 });
  });

  test("both at once, as systemd's hybrid has it: the figures are in version 1", async () => {
    const rows = `2:cpuacct:${parent}\n1:memory:${parent}\n3:pids:${parent}\n0::${parent}\n`;
    plant({ ...version1(parent.slice(1)), "proc/77/cgroup": rows });
    expect(await find(async () => 77)).toMatchObject(read);
  });

  test("a process of somebody else, or none, leads nowhere", async () => {
    plant({ ...version2("other"), "proc/77/cgroup": "0::/other\n", "proc/78/cgroup": "" });
    expect(await find(async () => 77)).toBeUndefined();
    expect(await find(async () => 78)).toBeUndefined();
    expect(await find(async () => undefined)).toBeUndefined();
    expect(namedCgroups("/r", "0::/other\nnonsense\n", id)).toEqual([]);
  });

  test("a place that is named but cannot be seen is none", async () => {
    plant({ "proc/77/cgroup": `0::/../../docker/${id}\n` });
    expect(await find(async () => 77)).toBeUndefined();
  });
});

describe("readCounters", () => {
  const path = `docker/${id}`;

  test("no limit in version 2 is undefined", async () => {
    plant({ ...version2(path), [`cgroup/${path}/memory.max`]: "max\n" });
    expect(await find()).toEqual({ ...read, memoryLimitBytes: undefined });
  });

  test("the texts of memory.stat and cpu.stat come with them, for the other figures in them", async () => {
    plant({ ...version2(path), [`cgroup/${path}/memory.stat`]: "inactive_file 1\nanon 7\n" });
    const cgroup = await findCgroup(roots, id, noPid);
    expect(cgroup && readCounters(cgroup)?.texts).toEqual({
      memory: "inactive_file 1\nanon 7\n",
      cpu: version2(path)[`cgroup/${path}/cpu.stat`],
    });
  });

  test("a cache larger than the use is not taken off", async () => {
    plant({ ...version2(path), [`cgroup/${path}/memory.stat`]: "inactive_file 9000001\n" });
    expect((await find())?.memoryBytes).toBe(9_000_000);
  });

  test("a controller that the machine lacks counts as nothing", async () => {
    plant({ [`cgroup/cpuacct/${path}/cpuacct.usage`]: "42\n" });
    expect(await find()).toEqual({ cpuNanos: 42, memoryBytes: 0, memoryLimitBytes: undefined, pids: 0 });
  });

  test.each([1, 2] as const)("a cgroup that is gone is undefined (version %d)", async (version) => {
    plant(version === 1 ? version1(path) : version2(path));
    const cgroup = await findCgroup(roots, id, noPid);
    rmSync(roots.cgroup, { recursive: true });
    if (cgroup === undefined) throw new Error("it was to be found");
    expect(readCounters(cgroup)).toBeUndefined();
  });
});
