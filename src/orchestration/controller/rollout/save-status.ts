import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import type { PodKindStatus } from "../../api/describe.ts";
import type { PlannedPod, WorkloadPlan } from "../../core/plan/pod.ts";
import { statusOf } from "../../core/plan/status.ts";
import { notActedUpon } from "../../core/unsupported.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Context } from "../state/context.ts";
import { keyText } from "../../api/manifest-key.ts";
import { isAsleep } from "../state/sleep-changes.ts";
import { plannedPods, planTarget, readinessOf } from "../state/observe.ts";
import { latestRelease } from "./releases.ts";
import type { EarlierRestarts, PodReadiness, RolloutMemory } from "../../store/look-records.ts";
import type { Store } from "../../store/store.ts";
import type { Found } from "../state/notes.ts";
import type { Pod } from "../state/pod.ts";

/** What one look at a resource of containers came to. */
export interface Finding {
  manifest: StoredManifest;
  workload: ResolvedWorkload;
  plan: WorkloadPlan;
  /** On the steady clock; a settled resource has none. */
  movedAt: number | undefined;
  memory: RolloutMemory;
}

/** Writes the status blob of a deployment or statefulset, where it says something new. */
export async function saveStatus(context: Context, finding: Finding): Promise<void> {
  const { manifest, workload, plan, movedAt, memory } = finding;
  const now = context.clock.now();
  const trouble = context.progress.trouble(manifest);
  const stopped = stoppedError(context, manifest, { memory, now });
  const previous = context.notes.status(manifest) as Partial<PodKindStatus> | undefined;
  const { phase, conditions } = statusOf({
    plan,
    workload: planTarget(workload),
    pods: podsNow(context, manifest, workload),
    lastError: trouble ?? stopped,
    deadlineAt:
      movedAt === undefined ? undefined : movedAt + workload.rollout.progressDeadlineMs + now - context.clock.steady(),
    frozenIds: context.store.frozen.list(manifest),
    pendingRelease: pendingRelease(context, manifest),
    isAsleep: isAsleep(context, manifest),
    now,
    steadyNow: context.clock.steady(),
    previous: previous?.conditions,
  });
  const closed = context.ports.closed(manifest);
  const warnings = [...notActedUpon(manifest.kind, manifest.spec), ...closed.map(({ warning }) => warning)];
  const restarts = earlierRestarts(context, manifest);
  const error = (trouble ?? stopped)?.message;
  const status: PodKindStatus & WireMemory = {
    phase,
    ...wantedOf(context, manifest, workload),
    ...countsOf(plan),
    releases: [],
    init_failures: initFailures(context, manifest, plan, previous),
    replica_readiness: readiness(context, manifest),
    conditions,
    ...wireMemory(memory),
    ...(restarts.length === 0
      ? {}
      : { earlier_restarts: Object.fromEntries(restarts.map(({ container, count }) => [container, count])) }),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(closed.length > 0 ? { closed_ports: closed.map(({ port }) => port) } : {}),
    ...(error === undefined ? {} : { last_reconcile_error: error }),
    ...retries(trouble),
    last_reconcile_at: new Date(now).toISOString(),
  };
  const { revision, generation } = manifest;
  const unready = waits.has(phase) ? undefined : conditions.find(({ type }) => type === "Ready")?.message;
  const look = { ...{ phase, revision, generation, replicas: workload.replicas }, error, unready, memory };
  await putStatus(context, manifest, status, { look, readiness: probed(context, manifest), restarts });
}

function wantedOf(context: Context, manifest: StoredManifest, workload: ResolvedWorkload) {
  return {
    image: workload.image,
    image_id: context.store.images.pinOf(manifest)?.imageId,
    spec_hash: workload.hash,
    replicas: workload.replicas,
    observed_revision: manifest.revision,
    observed_generation: manifest.generation,
  };
}

function countsOf({ counts }: WorkloadPlan) {
  return { ready_replicas: counts.ready, updated_replicas: counts.updated, frozen_replicas: counts.frozen };
}

function retries(
  trouble: ReturnType<Context["progress"]["trouble"]>,
): Pick<PodKindStatus, "attempts" | "next_retry_at"> {
  if (trouble === undefined) return {};
  const { attempts, retryAt } = trouble;
  return retryAt === undefined ? { attempts } : { attempts, next_retry_at: new Date(retryAt).toISOString() };
}

/** Phases that are well, or that time alone may fix. */
const waits = new Set<PodKindStatus["phase"]>(["ready", "asleep", "progressing"]);

type WireMemory = {
  good_generation?: number;
  good_replicas?: number;
  halted?: { generation: number; good_generation: number; reason: string };
};

function wireMemory({ goodGeneration: good, goodReplicas, halted }: RolloutMemory): WireMemory {
  return {
    ...(good === undefined ? {} : { good_generation: good }),
    ...(goodReplicas === undefined ? {} : { good_replicas: goodReplicas }),
    ...(halted === undefined || good === undefined
      ? {}
      : { halted: { generation: halted.generation, good_generation: good, reason: halted.reason } }),
  };
}

function pendingRelease(context: Context, key: ManifestKey): string | undefined {
  const release = latestRelease(context, key);
  return release?.status === "pending" ? release.id : undefined;
}

/** What is stored came to nothing: that stays named, although the replicas before it are well. */
function stoppedError(
  context: Context,
  manifest: StoredManifest,
  { memory: { halted }, now }: { memory: RolloutMemory; now: number },
) {
  const release = latestRelease(context, manifest);
  if (release?.status === "failed") {
    return { reason: "ReleaseFailed", message: release.error ?? "failed", at: now, attempts: 1, terminal: true };
  }
  if (halted === undefined || halted.generation !== manifest.generation) return undefined;
  return { reason: "RolloutHalted", message: halted.reason, at: now, attempts: 1, terminal: true };
}

/** Forgotten once everything is up. */
function initFailures(
  context: Context,
  key: ManifestKey,
  plan: WorkloadPlan,
  previous: Partial<PodKindStatus> | undefined,
): unknown[] {
  if (plan.done) context.progress.clearInitFailures(key);
  const fresh = context.progress.initFailures(key);
  return plan.done ? [] : fresh.length > 0 ? fresh : (previous?.init_failures ?? []);
}

const idChars = 12;

/** Restarts that the engine does not count any more, by container: the next server goes on counting from them. */
function earlierRestarts(context: Context, key: ManifestKey): EarlierRestarts[] {
  const counted = context.pods.of(key).filter(({ earlierRestarts }) => earlierRestarts > 0);
  return counted.map(({ id, earlierRestarts }) => ({ container: id.slice(0, idChars), count: earlierRestarts }));
}

/** What an earlier server has written down about a container. */
export function restartsBefore({ earlierRestarts }: Store, { key, id }: Pick<Pod, "key" | "id">): number {
  return earlierRestarts.list(key).find(({ container }) => id.startsWith(container))?.count ?? 0;
}

/** Readiness of all pods with probes, in the order of their names. */
function probed(context: Context, key: ManifestKey): PodReadiness[] {
  const rows = context.pods.of(key).flatMap((pod): PodReadiness[] => {
    const known = context.leaving.has(pod.id) ? undefined : context.probes.readiness(pod);
    if (known?.last_transition === undefined) return [];
    const { startup_passed: startupPassed, readiness_phase: phase } = known;
    const readiness = phase === "healthy" || phase === "unhealthy" ? phase : "unknown";
    return [{ pod: pod.name, startupPassed, readiness, transitionAt: Date.parse(known.last_transition) }];
  });
  return rows.length < 2 ? rows : rows.sort((a, b) => (a.pod < b.pod ? -1 : 1));
}

function readiness(context: Context, key: ManifestKey): Record<string, unknown> {
  const rows = context.pods
    .of(key)
    .map((pod) => [pod.name, { container_name: pod.name, replica_id: pod.replicaId, ...readinessOf(context, pod) }]);
  return Object.fromEntries(rows.slice(0, 64));
}

/** Written only when it says something new: `last_reconcile_at` alone is not worth a commit. */
export async function putStatus(
  context: Context,
  key: ManifestKey,
  status: Record<string, unknown>,
  found?: Found,
): Promise<void> {
  const known = context.notes.status(key);
  const { last_reconcile_at } = known ?? {};
  const isSame = !context.notes.isUnsaved(key) && Bun.deepEquals(known, { ...status, last_reconcile_at });
  // The status shows no more than so many pods.
  if (!isSame || (found && !Bun.deepEquals(found.readiness, context.store.probeReadiness.list(key)))) {
    await context.notes.saveStatus(key, status, found);
  }
  context.progress.moved.publish(keyText(key));
}

/** The error of a resource without containers, beside what its status says otherwise. */
export function putTrouble(context: Context, key: ManifestKey, error: string | undefined): Promise<void> {
  return putStatus(context, key, { ...context.notes.status(key), phase: "failing", last_reconcile_error: error });
}

/** The replicas as the plan sees them. */
export function podsNow(context: Context, key: ManifestKey, workload: ResolvedWorkload): PlannedPod[] {
  return plannedPods(context, { key, workload, now: context.clock.steady() });
}
