import type { ContainerSpec } from "../../src/orchestration/core/workload.ts";

/** A container that sleeps, with nothing special; `change` replaces fields. */
export function containerSpec(change: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    name: "web.1",
    image: "berth-fixture:1",
    command: ["sleep", "600"],
    env: {},
    labels: {},
    ports: [],
    mounts: [],
    networkMode: "bridge",
    networks: [],
    restart: { name: "no", maximumRetryCount: 0 },
    extraHosts: [],
    capAdd: [],
    ulimits: [],
    nanoCpus: undefined,
    memoryBytes: undefined,
    log: { maxSize: "10m", maxFiles: 3 },
    stopGraceMs: 0,
    stopSignal: undefined,
    options: {},
    ...change,
  };
}
