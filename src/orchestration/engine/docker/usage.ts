import { totalmem } from "node:os";
import type Dockerode from "dockerode";
import { Failure } from "../../../base/wire/failure.ts";
import { type Owner, selectorLabels } from "../ownership.ts";
import type { ObservedPod, PodUsage } from "../pod.ts";
import type { Engine } from "../engine.ts";
import { type Cgroup, type Counters, findCgroup, readCounters, type SystemRoots } from "./cgroup.ts";
import { readDetail } from "./cgroup-detail.ts";
import { containerRow } from "./container-detail.ts";
import type { DockerClient } from "./client.ts";
import type { Inspect } from "./containers.ts";
import { labelFilter } from "./formats.ts";

interface UsageParts {
  engine: DockerClient;
  owner: Owner;
  inspect: Inspect;
  roots: SystemRoots;
}

/** See `Engine.usage`. */
export function createUsage(parts: UsageParts): Pick<Engine, "usage"> {
  // By container id. A cgroup keeps its place when the container is started again.
  let known = new Map<string, Cgroup>();
  return {
    usage: async () => {
      const rows = await listRunning(parts);
      const found = await Promise.all(
        rows.map(async ({ id }) => [id, known.get(id) ?? (await find(parts, id))] as const),
      );
      known = new Map(found.flatMap(([id, cgroup]) => (cgroup === undefined ? [] : [[id, cgroup]])));
      // Version 1 of cgroups knows no "none": there a limit beyond all memory means it.
      const machineBytes = parts.engine.local ? totalmem() : Number.POSITIVE_INFINITY;
      const readings = await Promise.all(
        rows.map((row) => reading(parts, row, { cgroup: known.get(row.id), machineBytes })),
      );
      return readings.filter((usage) => usage !== undefined);
    },
  };
}

async function listRunning({ engine, owner }: UsageParts): Promise<ObservedPod[]> {
  const filters = { ...labelFilter(selectorLabels(owner, {})), status: ["running"] };
  const rows = await engine.call({ verb: "list", subject: "containers" }, (docker, abortSignal) =>
    docker.listContainers({ filters, abortSignal }),
  );
  return rows.map((row) => containerRow(row, owner.names));
}

function find({ engine, inspect, roots }: UsageParts, id: string): Promise<Cgroup | undefined> {
  return engine.local ? findCgroup(roots, id, async () => (await inspect(id))?.pid) : Promise.resolve(undefined);
}

/** Undefined for a container that has ended since it was listed. */
async function reading(
  { engine, roots }: UsageParts,
  { node, id, name, identity }: ObservedPod,
  { cgroup, machineBytes }: { cgroup: Cgroup | undefined; machineBytes: number },
): Promise<PodUsage | undefined> {
  const counters = cgroup === undefined ? await askEngine(engine, name, id) : readCounters(cgroup);
  if (counters === undefined) return undefined;
  const { cpuNanos, memoryBytes, memoryLimitBytes = Number.POSITIVE_INFINITY, pids, texts } = counters;
  const limit = Math.min(memoryLimitBytes, machineBytes);
  const detail = cgroup === undefined ? undefined : readDetail(cgroup, texts, roots.proc);
  const figures = { cpuNanos, memoryBytes, memoryLimitBytes: limit, pids, at: Date.now() };
  return { node, id, name, identity, ...figures, ...(detail === undefined ? {} : { detail }) };
}

/** For an engine whose files are not to be seen. It takes about a second, because the engine waits for its own collector. */
async function askEngine(engine: DockerClient, name: string, id: string): Promise<Counters | undefined> {
  try {
    const stats = await engine.call({ verb: "measure", subject: `container "${name}"` }, (docker, abortSignal) => {
      const container = docker.getContainer(id);
      // The published types leave out the options that dockerode takes here.
      const read: (options: object) => Promise<Dockerode.ContainerStats> = container.stats.bind(container);
      return read({ stream: false, "one-shot": true, abortSignal });
    });
    return statsCounters(stats);
  } catch (error) {
    if (error instanceof Failure && (error.code === "not_found" || error.code === "conflict")) return undefined;
    throw error;
  }
}

/** The engine's figures; undefined when they are those of a container that has ended, which are all empty. */
function statsCounters(stats: Dockerode.ContainerStats): Counters | undefined {
  const { cpu_stats: cpu, memory_stats: memory, pids_stats: pids } = stats;
  if (!memory?.usage && !cpu?.cpu_usage?.total_usage) return undefined;
  const used = memory.usage ?? 0;
  const rows: Record<string, number | undefined> = { ...memory.stats };
  const cache = rows.total_inactive_file ?? rows.inactive_file ?? 0;
  return {
    cpuNanos: cpu.cpu_usage.total_usage,
    memoryBytes: cache < used ? used - cache : used,
    memoryLimitBytes: memory.limit,
    pids: pids?.current ?? 0,
    texts: { memory: undefined, cpu: undefined },
  };
}
