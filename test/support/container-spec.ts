import { decodePassed } from "../../src/orchestration/core/spec/passed.ts";
import type { ContainerSpec } from "../../src/orchestration/core/workload.ts";

/** A container that sleeps, with nothing special; `change` replaces fields. */
export function containerSpec(change: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    ...decodePassed({}),
    name: "web.1",
    image: "berth-fixture:1",
    command: ["sleep", "600"],
    env: {},
    labels: {},
    ports: [],
    mounts: [],
    networks: [],
    restart: { name: "no", maximumRetryCount: 0 },
    ulimits: [],
    stopGraceMs: 0,
    options: {},
    ...change,
  };
}
