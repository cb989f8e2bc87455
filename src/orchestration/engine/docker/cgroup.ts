import { existsSync, readFileSync } from "node:fs";

/** Folders that hold the counters of one container; the same one three times in version 2. */
export interface Cgroup {
  version: 1 | 2;
  cpu: string;
  memory: string;
  pids: string;
}

export interface Counters {
  cpuNanos: number;
  memoryBytes: number;
  /** Undefined without a limit. */
  memoryLimitBytes: number | undefined;
  pids: number;
  texts: CgroupTexts;
}

/** Texts of files that more than one figure comes from: the kernel adds them up for each reader, so they are read once. */
export interface CgroupTexts {
  /** `memory.stat`. */
  memory: string | undefined;
  /** `cpu.stat`, in version 2. */
  cpu: string | undefined;
}

/** Where the files of the system are; other places in tests. */
export interface SystemRoots {
  cgroup: string;
  proc: string;
}

export const systemRoots: SystemRoots = { cgroup: "/sys/fs/cgroup", proc: "/proc" };

/** Where Docker's two cgroup drivers, `cgroupfs` and `systemd`, put a container unless told otherwise. */
export function usualCgroups(root: string, containerId: string): Cgroup[] {
  return [`docker/${containerId}`, `system.slice/docker-${containerId}.scope`].flatMap((path) => [
    unified(`${root}/${path}`),
    { version: 1, cpu: `${root}/cpuacct/${path}`, memory: `${root}/memory/${path}`, pids: `${root}/pids/${path}` },
  ]);
}

/**
 * The places that `/proc/<pid>/cgroup` names, likeliest first: rows of `number:controllers:path`, one with number 0
 * and no controllers in version 2. None when a path is not the container's. Source: cgroups(7).
 */
export function namedCgroups(root: string, procText: string, containerId: string): Cgroup[] {
  const rows = procText.split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return path?.includes(containerId) ? [{ controllers: controllers ?? "", path }] : [];
  });
  const folder = (controller: string) => {
    const row = rows.find(({ controllers }) => controllers.split(",").includes(controller));
    // Mounted under the joint name, with a link for each single one; where that is missing, only the joint name.
    return row === undefined ? [] : [controller, row.controllers].map((name) => `${root}/${name}${row.path}`);
  };
  const [memory = ""] = folder("memory");
  const [pids = ""] = folder("pids");
  const separate = folder("cpuacct").map((cpu): Cgroup => ({ version: 1, cpu, memory, pids }));
  return [...separate, ...rows.filter(({ controllers }) => controllers === "").map(({ path }) => unified(root + path))];
}

function unified(folder: string): Cgroup {
  return { version: 2, cpu: folder, memory: folder, pids: folder };
}

/** The cgroup of a running container, undefined when it cannot be seen from here. `pid` is asked for only when needed. */
export async function findCgroup(
  roots: SystemRoots,
  containerId: string,
  pid: () => Promise<number | undefined>,
): Promise<Cgroup | undefined> {
  const usual = usualCgroups(roots.cgroup, containerId).find(isThere);
  if (usual !== undefined) return usual;
  const text = readOptional(`${roots.proc}/${await pid()}/cgroup`) ?? "";
  return namedCgroups(roots.cgroup, text, containerId).find(isThere);
}

const isThere = (cgroup: Cgroup) => existsSync(cpuFile(cgroup));
const cpuFile = ({ version, cpu }: Cgroup) => `${cpu}/${version === 2 ? "cpu.stat" : "cpuacct.usage"}`;

/** Undefined when the cgroup is gone. A controller that the machine lacks counts as 0. */
export function readCounters(cgroup: Cgroup): Counters | undefined {
  const { memoryStat, ...memory } = cgroup.version === 2 ? unifiedMemory(cgroup.memory) : separateMemory(cgroup.memory);
  const pids = readNumber(`${cgroup.pids}/pids.current`) ?? 0;
  // Last: a cgroup that goes away in between is noticed here.
  const cpu = readOptional(cpuFile(cgroup));
  if (cpu === undefined) return undefined;
  const cpuNanos = cgroup.version === 2 ? (field(cpu, "usage_usec") ?? 0) * 1000 : Number(cpu);
  return { cpuNanos, ...memory, pids, texts: { memory: memoryStat, cpu: cgroup.version === 2 ? cpu : undefined } };
}

type Memory = Pick<Counters, "memoryBytes" | "memoryLimitBytes"> & { memoryStat: string | undefined };

function unifiedMemory(folder: string): Memory {
  const used = readNumber(`${folder}/memory.current`) ?? 0;
  // `max` where there is none, which is not a number.
  const limit = readNumber(`${folder}/memory.max`);
  const memoryStat = readOptional(`${folder}/memory.stat`);
  return { memoryBytes: withoutCache(used, memoryStat, "inactive_file"), memoryLimitBytes: limit, memoryStat };
}

function separateMemory(folder: string): Memory {
  const used = readNumber(`${folder}/memory.usage_in_bytes`) ?? 0;
  const limit = readNumber(`${folder}/memory.limit_in_bytes`);
  const memoryStat = readOptional(`${folder}/memory.stat`);
  return { memoryBytes: withoutCache(used, memoryStat, "total_inactive_file"), memoryLimitBytes: limit, memoryStat };
}

/** File cache that the kernel can take back at any time is not use: the same figure as `docker stats`. */
function withoutCache(used: number, stat: string | undefined, name: string): number {
  const cache = field(stat, name) ?? 0;
  return cache < used ? used - cache : used;
}

/** The value in rows `name value`; undefined without the row. */
export function field(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const row = text.startsWith(`${name} `) ? 0 : text.indexOf(`\n${name} `) + 1;
  if (row === 0 && !text.startsWith(`${name} `)) return undefined;
  const end = text.indexOf("\n", row);
  const value = text.slice(row + name.length + 1, end === -1 ? undefined : end);
  return /^\d+$/.test(value) ? Number(value) : undefined;
}

function readNumber(path: string): number | undefined {
  const value = Number(readOptional(path) ?? "none");
  return Number.isNaN(value) ? undefined : value;
}

/** The text of a file; undefined where it cannot be read. */
export function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
