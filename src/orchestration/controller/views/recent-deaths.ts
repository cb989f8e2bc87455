import type { ManifestKey } from "../../api/manifest.ts";
import type { DeathRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";
import { isPodKind } from "../state/target.ts";

/** Those on record, and those of containers that are still there and not on record yet; newest first. */
export async function deathsOf(context: Context, key: ManifestKey): Promise<DeathRecord[]> {
  const recorded = context.store.deaths.list(key);
  if (!context.link.up() || !isPodKind(key.kind)) return recorded;
  // An engine that stumbles just now leaves what was last seen.
  await context.pods.refresh(key).catch(() => undefined);
  const frozen = context.store.frozen.list(key);
  // Its replicas were stopped for that.
  if (context.volumeHolds.of(key) !== undefined) return recorded;
  const fallen = context.pods.of(key).filter((pod) => {
    return pod.finishedAt !== undefined && hasDied(pod) && !pod.restored && !frozen.includes(pod.replicaId);
  });
  const fresh = fallen.filter((pod) => recordOf(recorded, pod) === undefined);
  const examined = await Promise.all(fresh.map((pod) => context.deaths.examine(pod, "it ended by itself")));
  return [...examined, ...recorded].sort((a, b) => b.at - a.at);
}

/** Replicas that are asked for hints at one look. */
const askedMax = 3;

/** What to do about replicas that a mount refuses, and that do not run or are not ready: each text once. */
export async function hintsOf(context: Context, key: ManifestKey): Promise<string[]> {
  if (!context.link.up() || !isPodKind(key.kind)) return [];
  const recorded = context.store.deaths.list(key);
  const frozen = context.store.frozen.list(key);
  const down = context.pods.of(key).filter((pod) => {
    if (pod.role !== undefined || frozen.includes(pod.replicaId)) return false;
    return (pod.state !== "running" && hasDied(pod)) || context.probes.failing(pod) !== undefined;
  });
  const looks = down.slice(0, askedMax).map(async (pod) => {
    const known = pod.state === "running" ? undefined : recordOf(recorded, pod);
    return (known ?? (await context.deaths.examine(pod, ""))).hint;
  });
  const hints = await Promise.all(looks);
  return [...new Set(hints.filter((hint) => hint !== undefined))];
}

function recordOf(recorded: readonly DeathRecord[], pod: Pod): DeathRecord | undefined {
  return recorded.find(({ containerId, at }) => containerId === pod.id && at === pod.finishedAt);
}

function hasDied(pod: Pod): boolean {
  return (
    pod.restarts > 0 || pod.oomKilled || pod.state === "exited" || pod.state === "restarting" || pod.state === "dead"
  );
}
