import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Log } from "../../base/words/log.ts";

/** What copies may take of the machine while apps want it too. See `backupLimits`. */
interface Share {
  /** An app has 100. */
  copyCpuWeight: number;
  /** Above this, the kernel takes memory back from copies first, and slows them down. */
  copyMemoryHighBytes: number;
}

/** What is asked of the machine; another one in tests. */
interface Machine {
  isRoot: boolean;
  /** The root of its file system. */
  root: string;
  /** Whether a command succeeds. */
  succeeds(words: readonly string[]): Promise<boolean>;
}

const thisMachine: Machine = {
  isRoot: process.getuid?.() === 0,
  root: "",
  succeeds: async (words) => {
    const child = Bun.spawn([...words], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    const timer = setTimeout(() => child.kill("SIGKILL"), askMs);
    return (await child.exited.finally(() => clearTimeout(timer))) === 0;
  },
};

/** systemd answers at once, or something is wrong with it. */
const askMs = 10_000;

/** Words before a command that put it into the control group of copies; none where the machine gives none. */
export type CopyGroup = () => Promise<readonly string[]>;

/**
 * The control group in which copies stand, so that apps have the processors and the memory first. Where systemd runs, the
 * tree of groups is its own: each command gets a scope of it. Elsewhere it is one group beside those of the containers. Only
 * root can make one.
 */
export function createCopyGroup(share: Share, log: Log, machine: Machine = thisMachine): CopyGroup {
  let found: Promise<readonly string[]> | undefined;
  return () => (found ??= find(share, log, machine));
}

async function find(share: Share, log: Log, machine: Machine): Promise<readonly string[]> {
  const words = scopeWords(share);
  const isSystemd = existsSync(`${machine.root}/run/systemd/system`);
  try {
    if (!machine.isRoot) throw new Error("only root can make one");
    if (!isSystemd) return entering(makeFolder(share, machine.root));
    if (await machine.succeeds([...words, "true"])) return words;
    throw new Error("systemd gives no scope");
  } catch (error) {
    log.info("copies have no control group of their own", { error });
    return [];
  }
}

/** A transient scope among the containers that systemd knows; it ends with the command. */
export function scopeWords({ copyCpuWeight, copyMemoryHighBytes }: Share): string[] {
  const properties = [`CPUWeight=${copyCpuWeight}`, `MemoryHigh=${copyMemoryHighBytes}`];
  return [
    ...["systemd-run", "--scope", "--quiet", "--collect", "--no-ask-password", "--slice=system.slice"],
    ...["--description=a copy of berth", ...properties.map((one) => `--property=${one}`), "--"],
  ];
}

/** Whether a command that began with `scopeWords` was never started, by its exit code and what it wrote to stderr. */
export const hasNoScope = (words: readonly string[], code: number | null | undefined, said: string) =>
  words[0] === "systemd-run" && code === 1 && /^(?:Failed to |Job for )/.test(said);

/** The command goes on also where the group is gone. */
function entering(folder: string): string[] {
  return ["sh", "-c", '{ echo 0 > "$0/cgroup.procs"; } 2> /dev/null; exec "$@"', folder];
}

const name = "berth-copies";
const write = (path: string, value: string | number) => writeFileSync(path, `${value}`);

/** Fails where the processors cannot be shared out. */
function makeFolder({ copyCpuWeight, copyMemoryHighBytes }: Share, root: string): string {
  const mounted = `${root}/sys/fs/cgroup`;
  if (!existsSync(`${mounted}/cgroup.controllers`)) return makeSeparate(copyCpuWeight, root);
  const folder = `${mounted}/${name}`;
  write(`${mounted}/cgroup.subtree_control`, "+cpu +memory");
  mkdirSync(folder, { recursive: true });
  write(`${folder}/cpu.weight`, copyCpuWeight);
  write(`${folder}/memory.high`, copyMemoryHighBytes);
  return folder;
}

/**
 * In version 1 of control groups each controller has a tree, and that of memory has no mark above which it only slows down:
 * copies get a group in that of the processors, within the one of this process. Source: cgroups(7).
 */
function makeSeparate(cpuWeight: number, root: string): string {
  for (const row of readFileSync(`${root}/proc/self/cgroup`, "utf8").split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(row) ?? [];
    if (!controllers.split(",").includes("cpu")) continue;
    // Mounted under one of the names; a container sees its own group as the root of the tree.
    const places = ["cpu", controllers].flatMap((tree) =>
      [path, ""].map((own) => `${root}/sys/fs/cgroup/${tree}${own}`),
    );
    const own = places.find((folder) => existsSync(`${folder}/cgroup.procs`)) ?? "";
    const folder = `${own.replace(/\/$/, "")}/${name}`;
    mkdirSync(folder, { recursive: true });
    write(`${folder}/cpu.shares`, Math.max(2, Math.round((cpuWeight * 1_024) / 100)));
    return folder;
  }
  throw new Error("the machine has no control groups for the processors");
}

/**
 * Words before a command that give it a host name of its own; `isAlone`: and a PID namespace of its own. restic takes a lock for
 * left over when it names this machine and a process that is gone: two servers called "debian" would remove each other's.
 */
export const named = (host: string, isAlone = false) => [
  ...["unshare", "--uts", ...(isAlone ? ["--pid", "--fork", "--kill-child"] : [])],
  "sh",
  "-c",
  'echo "$0" > /proc/sys/kernel/hostname && exec "$@"',
  host,
];
