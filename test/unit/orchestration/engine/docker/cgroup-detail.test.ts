import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Cgroup, usualCgroups } from "../../../../../src/orchestration/engine/docker/cgroup.ts";
import { readDetail } from "../../../../../src/orchestration/engine/docker/cgroup-detail.ts";

const id = "cd".repeat(32);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cgroup-detail-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plant = (files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

const netDev = [
  "Inter-|   Receive                                                |  Transmit",
  " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
  "    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0",
  "  eth0:1000 9 0 0 0 0 0 0 400 3 0 0 0 0 0 0",
  "  eth1: 24 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0",
].join("\n");

const plantProcess = (pid: number, namespace: string) => {
  plant({ [`proc/${pid}/net/dev`]: netDev, "proc/self/x": "" });
  for (const [process, target] of [
    [String(pid), namespace],
    ["self", "net:[1]"],
  ]) {
    mkdirSync(join(folder, `proc/${process}/ns`), { recursive: true });
    symlinkSync(target ?? "", join(folder, `proc/${process}/ns/net`));
  }
};

const detailOf = (version: 1 | 2) => {
  const cgroup = usualCgroups(join(folder, "cgroup"), id).find((one) => one.version === version);
  if (cgroup === undefined) throw new Error("no usual place");
  // They are read once, with the counters.
  const take = (file: string) => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    rmSync(file, { force: true });
    return text;
  };
  const texts = {
    memory: take(join(cgroup.memory, "memory.stat")),
    cpu: version === 2 ? take(join(cgroup.cpu, "cpu.stat")) : undefined,
  };
  return readDetail(cgroup, texts, join(folder, "proc"));
};

test("version 2: memory, throttling, blocks, kills, pressure and network", () => {
  const at = (file: string) => `cgroup/docker/${id}/${file}`;
  plant({
    [at("memory.stat")]: "anon 700\nfile 300\n",
    [at("cpu.stat")]: "usage_usec 10\nthrottled_usec 77\n",
    [at("memory.events")]: "low 0\noom 2\noom_kill 2\n",
    [at("io.stat")]: "8:0 rbytes=100 wbytes=7 rios=1\n8:16 rbytes=11 wbytes=3 rios=1\n",
    [at("cpu.pressure")]: "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=9\n",
    [at("cgroup.procs")]: "4711\n4712\n",
  });
  plantProcess(4711, "net:[2]");
  expect(detailOf(2)).toMatchObject({
    ...{ rssBytes: 700, cacheBytes: 300, throttledMicros: 77, oomKills: 2 },
    ...{ blockReadBytes: 111, blockWriteBytes: 10, cpuPressureMicros: 1234, memoryPressureMicros: undefined },
    ...{ netRxBytes: 1_024, netTxBytes: 406 },
  });
});

test("version 1: the same from its other files, without pressure", () => {
  plant({
    [`cgroup/memory/docker/${id}/memory.stat`]: "rss 1\ntotal_rss 700\ntotal_cache 300\n",
    [`cgroup/memory/docker/${id}/memory.oom_control`]: "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    [`cgroup/cpu/docker/${id}/cpu.stat`]: "nr_periods 1\nthrottled_time 5000\n",
    [`cgroup/blkio/docker/${id}/blkio.throttle.io_service_bytes`]:
      "8:0 Read 100\n8:0 Write 7\n8:0 Total 107\nTotal 107\n",
  });
  expect(detailOf(1)).toEqual({
    ...{ rssBytes: 700, cacheBytes: 300, throttledMicros: 5, oomKills: 3, blockReadBytes: 100, blockWriteBytes: 7 },
  });
});

test("a container on the machine's own network has no network figures: those are not its own", () => {
  plant({ [`cgroup/docker/${id}/cgroup.procs`]: "4711\n" });
  plantProcess(4711, "net:[1]");
  expect(detailOf(2).netRxBytes).toBeUndefined();
});

describe("the process that shows the network", () => {
  const cgroup = () => usualCgroups(join(folder, "cgroup"), id)[0] as Cgroup;
  const none = { memory: undefined, cpu: undefined };
  const procs = `cgroup/docker/${id}/cgroup.procs`;
  const read = (one: Cgroup) => readDetail(one, none, join(folder, "proc")).netRxBytes;

  test("is remembered: the list of processes is not read again", () => {
    plant({ [procs]: "4711\n" });
    plantProcess(4711, "net:[2]");
    const one = cgroup();
    expect(read(one)).toBe(1_024);
    rmSync(join(folder, procs));
    expect(read(one)).toBe(1_024);
  });

  test("is looked for again when it has ended", () => {
    plant({ [procs]: "4711\n" });
    plantProcess(4711, "net:[2]");
    const one = cgroup();
    read(one);
    rmSync(join(folder, "proc/4711"), { recursive: true });
    plant({ [procs]: "4712\n", "proc/4712/net/dev": netDev.replace("eth0:1000", "eth0:3000") });
    mkdirSync(join(folder, "proc/4712/ns"), { recursive: true });
    symlinkSync("net:[2]", join(folder, "proc/4712/ns/net"));
    expect(read(one)).toBe(3_024);
  });

  test("is looked for again when its number went to a process of another network", () => {
    plant({ [procs]: "4711\n" });
    plantProcess(4711, "net:[2]");
    const one = cgroup();
    read(one);
    rmSync(join(folder, "proc/4711/ns/net"));
    symlinkSync("net:[1]", join(folder, "proc/4711/ns/net"));
    rmSync(join(folder, procs));
    expect(read(one)).toBeUndefined();
  });
});
