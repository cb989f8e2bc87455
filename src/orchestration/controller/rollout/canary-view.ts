import { isoTime } from "../../../base/pure/iso-time.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Canary } from "../../api/rollouts.ts";
import { canaryLeftMs, canaryText, canaryWait } from "../../core/plan/canary.ts";
import type { CanaryPolicy } from "../../core/workload.ts";
import type { CanaryRecord } from "../../store/store.ts";
import { resolveStored } from "../desired/resolve.ts";
import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";

/** How far the canary release of a resource is; undefined where there is none. */
export function canaryView(context: Context, key: ManifestKey): Canary | undefined {
  const record = context.store.canaries.get(key);
  const manifest = context.store.manifests.get(key);
  if (record === undefined || manifest === undefined || record.mode === "withdrawn") return undefined;
  if (record.mode === "kept" && (record.keptUntil ?? 0) <= context.clock.now()) return undefined;
  const { rollout } = resolveStored(context, manifest).workload;
  if (rollout.canary === undefined) return undefined;
  const canary = { ...record, elapsedMs: context.canaries.elapsedMs(key) };
  const pods = context.pods.of(key).filter(({ role, state }) => role === undefined && state === "running");
  const isNew = ({ hash, generation }: Pod) => hash === record.hash && generation >= record.generation;
  const [fresh, old] = [pods.filter(isNew), pods.filter((pod) => !isNew(pod))];
  const leftMs = canaryLeftMs(rollout.canary, canary);
  return {
    release: record.releaseId,
    state: stateOf(rollout.canary, canary),
    text: textOf(rollout.canary, canary),
    step: record.step + 1,
    steps: rollout.canary.steps.map(({ share, pauseMs }) => ({
      share,
      ...(pauseMs === undefined ? {} : { pause_seconds: pauseMs / 1_000 }),
    })),
    share: record.share,
    ...(record.isPromoted ? { promoted: true } : {}),
    ...(leftMs === undefined ? {} : { left_seconds: Math.ceil(leftMs / 1_000) }),
    ...(record.keptUntil === undefined ? {} : { kept_until: isoTime(record.keptUntil) }),
    replicas: { new: fresh.length, old: old.length },
    ...traffic(context, key, { fresh, old, overMs: Math.max(canary.elapsedMs, rollout.guard?.overMs ?? trafficMs) }),
  };
}

/** Without a guard, figures are those of the last minute, or of the whole step where that has lasted longer. */
const trafficMs = 60_000;

function stateOf(policy: CanaryPolicy, record: CanaryRecord): Canary["state"] {
  if (record.mode === "kept") return "kept";
  const states = { replicas: "starting", time: "waiting", person: "paused", rest: "replacing" } as const;
  return states[canaryWait(policy, record)];
}

function textOf(policy: CanaryPolicy, record: CanaryRecord): string {
  return record.mode === "kept" ? "the old replicas stay, without requests" : canaryText(policy, record);
}

function traffic(
  { trafficOf, clock }: Context,
  key: ManifestKey,
  { fresh, old, overMs }: { fresh: readonly Pod[]; old: readonly Pod[]; overMs: number },
): Pick<Canary, "traffic"> {
  const to = clock.now();
  const of = (pods: readonly Pod[]) =>
    trafficOf?.(key, { from: to - overMs, to, containers: new Set(pods.map(({ id }) => id)) });
  const [ofNew, ofOld] = [of(fresh), of(old)];
  if (ofNew === undefined || ofOld === undefined) return {};
  const figures = ({ requests, failed, p99_ms }: typeof ofNew) => ({
    requests,
    failed,
    p99_ms,
  });
  return { traffic: { seconds: Math.round(overMs / 1_000), new: figures(ofNew), old: figures(ofOld) } };
}
