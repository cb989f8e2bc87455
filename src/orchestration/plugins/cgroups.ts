import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

interface CgroupLimits {
  pluginProcessesMax: number;
  pluginMemoryBytesMax: number;
}

interface CgroupsOptions {
  /** Where control groups are mounted: `/sys/fs/cgroup`. */
  mount: string;
  /** Folder of all runs in each hierarchy. */
  name: string;
  limits: CgroupLimits;
}

/** Control groups of runs, version 1 or 2: a process does not leave one by leaving a process group or an environment. */
export interface Cgroups {
  /** What this machine does not have of it, for people; empty where all of it holds. */
  readonly lacks: readonly string[];
  /** A group for one run; undefined where there are none. */
  open(id: string): Cgroup | undefined;
  /** Ends everybody in groups of these ids, and removes them. */
  endAll(isWanted: (id: string) => boolean): Promise<void>;
}

export interface Cgroup {
  /** A process that writes `0` into each of them is in the group, and so are its children. */
  readonly entries: readonly string[];
  /** Whether the kernel ended somebody of it for want of memory. Ask before `end`. */
  ranOutOfMemory(): boolean;
  /** Ends everybody in it and removes it. */
  end(): Promise<void>;
}

/** One mounted hierarchy: what it can do for a run. */
interface Hierarchy {
  path: string;
  /** File → value, for each run; the first of a list that is there. */
  settings: [files: readonly string[], value: number][];
  /** Where kills for want of memory are counted. */
  oomFile: string | undefined;
}

export function createCgroups({ mount, name, limits }: CgroupsOptions): Cgroups {
  const wanted = isThere(join(mount, "cgroup.controllers")) ? unified(mount, limits) : separate(mount, limits);
  const usable = wanted.flatMap((hierarchy) => prepared(hierarchy, name) ?? []);
  const paths = usable.map(({ path }) => path);
  return {
    lacks: lacksOf(usable),
    open(id) {
      const groups: Hierarchy[] = [];
      for (const hierarchy of usable) {
        const group = made(hierarchy, id);
        if (group !== undefined) groups.push(group);
      }
      return groups.length === 0 ? undefined : cgroupOf(groups);
    },
    async endAll(isWanted) {
      for (const path of paths) {
        const ids = await readdir(path).catch(() => []);
        await Promise.all(ids.filter(isWanted).map((id) => endAndRemove([join(path, id)])));
      }
    },
  };
}

function unified(mount: string, limits: CgroupLimits): Hierarchy[] {
  return [
    {
      path: mount,
      settings: [
        [["pids.max"], limits.pluginProcessesMax],
        [["memory.max"], limits.pluginMemoryBytesMax],
      ],
      oomFile: "memory.events",
    },
  ];
}

/** Version 1 has a hierarchy for each controller, and often an empty one of version 2 beside them, which can end a group. */
function separate(mount: string, limits: CgroupLimits): Hierarchy[] {
  return [
    { path: join(mount, "pids"), settings: [[["pids.max"], limits.pluginProcessesMax]], oomFile: undefined },
    {
      path: join(mount, "memory"),
      settings: [[["memory.limit_in_bytes"], limits.pluginMemoryBytesMax]],
      oomFile: "memory.oom_control",
    },
    { path: join(mount, "unified"), settings: [], oomFile: undefined },
  ];
}

/** The hierarchy with the folder of all runs as its path; undefined where that cannot be made. */
function prepared(hierarchy: Hierarchy, name: string): Hierarchy | undefined {
  const { path, settings, oomFile } = hierarchy;
  if (!isThere(join(path, "cgroup.procs"))) return undefined;
  const own = join(path, name);
  try {
    mkdirSync(own, { recursive: true, mode: 0o755 });
    accessSync(own, constants.W_OK);
  } catch {
    return undefined;
  }
  // Version 2 hands a controller down where the folder above says so; it may have been said before.
  if (isThere(join(path, "cgroup.controllers"))) {
    for (const folder of [path, own]) {
      for (const controller of ["+pids", "+memory"]) write(join(folder, "cgroup.subtree_control"), controller);
    }
  }
  return { path: own, settings: settings.filter(([files]) => isHandedDown(own, files)), oomFile };
}

/** Whether groups below have the file: tried with one. */
function isHandedDown(folder: string, files: readonly string[]): boolean {
  // A name of its own: other servers may try at the same time.
  const trial = join(folder, `trial.${crypto.randomUUID()}`);
  try {
    mkdirSync(trial, { recursive: true });
    return files.some((file) => isThere(join(trial, file)));
  } catch {
    return false;
  } finally {
    removed(trial);
  }
}

function lacksOf(usable: readonly Hierarchy[]): string[] {
  const sets = (file: string) => usable.some(({ settings }) => settings.some(([files]) => files.includes(file)));
  if (usable.length === 0) return ["no control groups: a process that leaves group and environment outlives its run"];
  return [
    ...(sets("pids.max") ? [] : ["no limit for the number of processes of a run"]),
    ...(sets("memory.max") || sets("memory.limit_in_bytes") ? [] : ["no limit for the memory of a run"]),
  ];
}

function made({ path, settings, oomFile }: Hierarchy, id: string): Hierarchy | undefined {
  const own = join(path, id);
  try {
    mkdirSync(own);
  } catch {
    return undefined;
  }
  for (const [files, value] of settings) for (const file of files) write(join(own, file), String(value));
  return { path: own, settings, oomFile };
}

function cgroupOf(groups: readonly Hierarchy[]): Cgroup {
  const paths = groups.map(({ path }) => path);
  return {
    entries: paths.map((path) => join(path, "cgroup.procs")),
    ranOutOfMemory: () =>
      groups.some(({ path, oomFile }) => oomFile !== undefined && /^oom_kill [1-9]/m.test(read(join(path, oomFile)))),
    end: () => endAndRemove(paths),
  };
}

/** A process may fork while it is looked for: looked at again until it is empty. */
const roundsMax = 200;
const pauseMsMax = 25;

async function endAndRemove(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    // No more children, and in newer kernels all at once.
    write(join(path, "pids.max"), "0");
    write(join(path, "cgroup.kill"), "1");
  }
  for (let round = 0; round < roundsMax; round++) {
    const pids = new Set(paths.flatMap((path) => read(join(path, "cgroup.procs")).split("\n").filter(Boolean)));
    for (const pid of pids) kill(Number(pid));
    const left = paths.filter((path) => !removed(path));
    if (pids.size === 0 && left.length === 0) return;
    await Bun.sleep(Math.min(round, pauseMsMax));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone by itself.
  }
}

/** Only an empty group can be removed. */
function removed(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

/** What a file refuses, or a kernel does not have, shows in what is lacking. */
function write(path: string, text: string): void {
  if (!isThere(path)) return;
  try {
    writeFileSync(path, text);
  } catch {
    // Told by `lacks`.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
