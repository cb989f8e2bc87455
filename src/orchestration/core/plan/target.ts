import type { Spec, StoredManifest } from "../../api/manifest.ts";
import { type FaultCount, rolledBackSpec } from "../rollback.ts";

/** The facts about a release that decide what replicas are to be made from. */
export interface TargetRelease {
  status: "pending" | "running" | "succeeded" | "failed";
  good: boolean;
  hash: string;
  spec: Spec;
  /** Exit code of the commands that run before the replicas; undefined while one has not ended, or where there is none. */
  preExitCode: number | undefined;
  exitCode: number | undefined;
}

/** A rollout of config alone that came to nothing: replicas of the generation before stay. */
export interface HaltedConfig {
  generation: number;
  goodGeneration: number;
}

interface TargetInput {
  manifest: StoredManifest;
  /** Newest first. */
  releases: readonly TargetRelease[];
  halted: HaltedConfig | undefined;
  faultsOf: FaultCount;
}

/**
 * What replicas are made from now. The stored manifest, except: while the release phase of its newest release has not
 * passed, or when that release failed and was not rolled back, the last good release's spec (with the settings of
 * today) goes on; nothing at all runs before the phase of a first release has passed (undefined). A halted config
 * rollout keeps the generation that worked.
 */
export function targetOf({ manifest, releases, halted, faultsOf }: TargetInput): StoredManifest | undefined {
  const [latest] = releases;
  const stopped = halted !== undefined && halted.generation === manifest.generation;
  const generation = stopped ? halted.goodGeneration : manifest.generation;
  if (latest === undefined || latest.status === "running" || latest.status === "succeeded") {
    return { ...manifest, generation };
  }
  const good = releases.find((release) => release.good);
  if (good === undefined) return phasePassed(latest) ? { ...manifest, generation } : undefined;
  return { ...manifest, generation, spec: rolledBackSpec(good.spec, manifest.spec, faultsOf) };
}

function phasePassed({ status, preExitCode = 0, exitCode = 0 }: TargetRelease): boolean {
  return status !== "pending" && preExitCode === 0 && exitCode === 0;
}
