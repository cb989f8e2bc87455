import type { PodProbes } from "./probe.ts";
import type { ProbeName, ProbesConfig } from "./spec/probes.ts";

/**
 * The state after an attempt that says nothing about the container, because the engine did not carry it out: what is known
 * stays, and the probe is tried again after its period.
 */
export function postponedProbe(
  before: PodProbes,
  config: ProbesConfig,
  { probe, at }: { probe: ProbeName; at: number },
): PodProbes {
  const own = config[probe];
  const old = before.states[probe];
  if (own === undefined || old?.nextAt === undefined) return before;
  return { ...before, states: { ...before.states, [probe]: { ...old, nextAt: at + own.periodMs } } };
}
