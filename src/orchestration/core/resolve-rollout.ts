import type { PodKind, Spec } from "../api/manifest.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { parsePercent } from "../../base/pure/percent.ts";
import { canaryPolicy } from "./resolve-canary.ts";
import { fieldsOf, integerOf, textOf } from "./lenient.ts";
import type { ContainerTemplate, GuardPolicy, Mount, RolloutPolicy } from "./workload.ts";

/** An app may exit until its database answers: for less than this nothing is a crash loop. */
export const crashAfterLeastMs = 30_000;

/** How replicas are replaced: what is written, defaults, and the strategy that the container allows. */
export function rolloutPolicy(kind: PodKind, spec: Spec, container: ContainerTemplate): RolloutPolicy {
  const rollout = fieldsOf(spec.rollout);
  const ms = (field: string, fallback: number) => parseDuration(textOf(rollout[field]) ?? "") ?? fallback;
  const shared = {
    minReadyMs: ms("min_ready", 2_000),
    progressDeadlineMs: ms("progress_deadline", 300_000),
    crashRestarts: Math.max(1, integerOf(rollout.crash_loop_restarts) ?? 5),
    crashAfterMs: Math.max(crashAfterLeastMs, ms("crash_loop_after", 60_000)),
    // Connections to a database never end: waiting for them only makes a roll long.
    drainMs: ms("drain", kind === "statefulset" ? 0 : 30_000),
    autoRollback: rollout.auto_rollback !== false,
    guard: guardPolicy(rollout.guard),
  };
  if (kind === "statefulset") {
    // An ordinal is stopped before it is made anew, one at a time: its volumes have one writer.
    const fixed = { strategy: "rolling", strategyReason: undefined, maxSurge: 0, maxUnavailable: 1 } as const;
    return { ...shared, ...fixed, canary: undefined };
  }
  const { strategy, reason } = strategyOf(rollout.strategy, container);
  return {
    ...shared,
    strategy,
    strategyReason: reason,
    maxSurge: integerOf(rollout.max_surge) ?? 1,
    maxUnavailable: integerOf(rollout.max_unavailable) ?? 0,
    canary: strategy === "rolling" ? canaryPolicy(rollout, shared.guard?.overMs ?? 0) : undefined,
  };
}

function guardPolicy(written: unknown): GuardPolicy | undefined {
  const { errors, p99, over, min_requests } = fieldsOf(written);
  const failedShareMax = parsePercent(textOf(errors) ?? "");
  const p99MsMax = parseDuration(textOf(p99) ?? "");
  if (failedShareMax === undefined && p99MsMax === undefined) return undefined;
  const overMs = parseDuration(textOf(over) ?? "") ?? 30_000;
  return { failedShareMax, p99MsMax, overMs, requestsMin: Math.max(1, integerOf(min_requests) ?? 20) };
}

interface Decision {
  strategy: RolloutPolicy["strategy"];
  reason: string | undefined;
}

/** First match wins. */
function strategyOf(written: unknown, container: ContainerTemplate): Decision {
  const port = container.ports.find(({ hostPort }) => hostPort !== undefined);
  // Even where rolling is written: the new replica could not bind.
  if (port !== undefined && container.networkMode === "bridge") {
    return recreate(`host port ${port.hostPort} is fixed, so the old replica must let go of it first`);
  }
  if (written === "recreate" || written === "rolling") return { strategy: written, reason: undefined };
  if (container.networkMode === "host") {
    return recreate("replicas share the network of the host, so the old one must let go of its ports first");
  }
  const volume = container.mounts.find(isWritable);
  if (volume !== undefined) {
    return recreate(
      `"${volume.volume?.name ?? volume.source}" is writable, so two replicas never use it at once; write rollout.strategy = "rolling" if they may`,
    );
  }
  return { strategy: "rolling", reason: undefined };
}

function recreate(reason: string): Decision {
  return { strategy: "recreate", reason };
}

function isWritable(mount: Mount): boolean {
  return !mount.readOnly;
}
