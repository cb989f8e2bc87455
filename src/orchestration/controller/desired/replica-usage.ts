import type { ManifestKey } from "../../api/manifest.ts";
import { podOf } from "../../core/spec/decode.ts";
import { weightsOf } from "../../core/plan/canary-weights.ts";
import type { ReplicaUsage } from "./autoscale.ts";
import type { Context } from "../state/context.ts";
import { readinessOf } from "../state/observe.ts";

const nanosPerCore = 1e9;
/** Figures that are older say nothing about now. */
const trustedMs = 3 * 60_000;

/** What the collector last saw of the running replicas of a resource; nothing while it is off or has stopped seeing. */
export function replicaUsage(context: Context, key: ManifestKey): ReplicaUsage[] {
  const snapshot = context.usage.latest();
  if (snapshot === undefined || context.clock.now() - snapshot.at > trustedMs) return [];
  const manifest = context.store.manifests.get(key);
  const nanoCpus = manifest && podOf(manifest)?.limits.nanoCpus;
  const cpuLimit = nanoCpus === undefined ? undefined : nanoCpus / nanosPerCore;
  const running = context.pods.of(key).filter(({ role, state }) => role === undefined && state === "running");
  const canary = context.store.canaries.get(key);
  // Old replicas that a release keeps aside have nothing to do.
  const weights = canary && weightsOf(canary, running);
  return running.flatMap((pod, index) => {
    const usage = snapshot.pods.get(pod.id);
    if (usage === undefined) return [];
    const ready = weights?.[index] !== 0 && readinessOf(context, pod).ready;
    return [{ cpuPercent: usage.cpuPercent, cpuLimit, ready }];
  });
}
