import type { PodUsage } from "../../../src/orchestration/engine/pod.ts";
import type { ContainerTable } from "./container-table.ts";

export type UsageFigures = Pick<PodUsage, "cpuNanos" | "memoryBytes" | "memoryLimitBytes" | "pids">;

export interface SocketFigures {
  listening: boolean;
  established: number;
}

/** What containers use and who is connected to them: nothing and nobody, unless a test says so. */
export interface Gauges {
  usage(): PodUsage[];
  connections(nameOrId: string): SocketFigures | undefined;
  /** Fields left out are as before. */
  setUsage(nameOrId: string, figures: Partial<UsageFigures>): void;
  setConnections(nameOrId: string, figures: SocketFigures): void;
  /** Of a container that has gone, nothing is kept. */
  delete(id: string): void;
}

const machineBytes = 8 * 1024 ** 3;

export function createGauges(table: ContainerTable, now: () => number): Gauges {
  const used = new Map<string, Partial<UsageFigures>>();
  const sockets = new Map<string, SocketFigures>();
  const idOf = (nameOrId: string) => table.get(nameOrId)?.detail.id ?? nameOrId;

  return {
    usage() {
      const running = [...table.entries()].filter(({ detail }) => detail.state === "running");
      return running.map(({ detail: { node, id, name, identity, memoryBytes: memoryLimitBytes = machineBytes } }) => {
        const figures = { cpuNanos: 0, memoryBytes: 0, memoryLimitBytes, pids: 1, ...used.get(id), at: now() };
        return { node, id, name, identity, ...figures };
      });
    },
    connections(nameOrId) {
      const entry = table.get(nameOrId);
      if (entry?.detail.state !== "running") return undefined;
      return sockets.get(entry.detail.id) ?? { listening: false, established: 0 };
    },
    setUsage(nameOrId, figures) {
      const id = idOf(nameOrId);
      used.set(id, { ...used.get(id), ...figures });
    },
    setConnections(nameOrId, figures) {
      sockets.set(idOf(nameOrId), figures);
    },
    delete(id) {
      used.delete(id);
      sockets.delete(id);
    },
  };
}
