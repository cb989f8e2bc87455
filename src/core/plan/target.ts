import type { Spec, StoredManifest } from "../../api/manifest.ts";

/** The facts about a release that decide what replicas are to be made from. */
export interface TargetRelease {
  status: "pending" | "running" | "succeeded" | "failed";
  good: boolean;
  /** Exit codes of the commands before the rollout, of those that have run. */
  preExitCode: number | undefined;
  exitCode: number | undefined;
  hash: string;
  spec: Spec;
}

/** A rollout of config alone that came to nothing: replicas of the generation before stay. */
export interface HaltedConfig {
  generation: number;
  goodGeneration: number;
}

/**
 * What replicas are made from now. The stored manifest, except: while the release phase of its newest release has not
 * passed, or when that release failed and was not rolled back, the last good release's spec (with the stored replica
 * count) goes on; nothing at all runs before the phase of a first release (undefined). A halted config rollout keeps
 * the generation that worked.
 */
export function targetOf(
  manifest: StoredManifest,
  releases: readonly TargetRelease[],
  halted: HaltedConfig | undefined,
): StoredManifest | undefined {
  const [latest] = releases;
  const stopped = halted !== undefined && halted.generation === manifest.generation;
  const generation = stopped ? halted.goodGeneration : manifest.generation;
  if (latest === undefined || latest.status === "running" || latest.status === "succeeded") {
    return { ...manifest, generation };
  }
  const good = releases.find((release) => release.good);
  if (good === undefined) return isBlocked(latest) ? undefined : { ...manifest, generation };
  return { ...manifest, generation, spec: withReplicas(good.spec, manifest.spec) };
}

/** Its commands have yet to pass, or did not: nothing may run that was not prepared for. */
function isBlocked({ status, preExitCode = 0, exitCode = 0 }: TargetRelease): boolean {
  return status === "pending" || preExitCode !== 0 || exitCode !== 0;
}

/** A release's spec with the replica count of today: a rollback is about what runs, not about how much of it. */
export function withReplicas(spec: Spec, present: Spec): Spec {
  const { replicas: _, autoscale: __, ...rest } = spec;
  const count = present.replicas === undefined ? {} : { replicas: present.replicas };
  const scale = present.autoscale === undefined ? {} : { autoscale: present.autoscale };
  return { ...rest, ...count, ...scale };
}
