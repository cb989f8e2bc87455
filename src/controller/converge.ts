import type { ManifestKey, StoredManifest } from "../api/manifest.ts";
import type { PodKindStatus } from "../api/orchestration/describe.ts";
import type { WorkloadPlan } from "../core/plan/pod.ts";
import { statusOf } from "../core/plan/status.ts";
import { planWorkload } from "../core/plan/workload.ts";
import { notActedUpon } from "../core/unsupported.ts";
import { isJobKind } from "../core/resolve-job.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import { convergeAsset } from "./converge-asset.ts";
import type { Context } from "./context.ts";
import { keyText } from "./key-text.ts";
import { execute } from "./execute.ts";
import { convergeJob } from "./job-status.ts";
import { plannedPods, planTarget, untouchedIds } from "./observe.ts";
import { refuseUnresolved, resolveStored } from "./resolve.ts";
import { isPodKind } from "./target.ts";
import type { TearDown } from "./tear-down.ts";

/** Settled, or worth another look after `againInMs`. */
export interface Round {
  settled: boolean;
  againInMs?: number;
}

/**
 * Brings one resource to what is stored about it. Acts on the state, never on the event that caused the call; safe to
 * call at any time, and to be killed in at any point.
 */
export async function converge(context: Context, tearDown: TearDown, key: ManifestKey): Promise<Round> {
  const deletion = context.store.deletions.get(key);
  if (deletion !== undefined) {
    if (!context.engine.up()) return { settled: false };
    await context.jobs.cancelAll(key, "the manifest was deleted");
    await tearDown.finish(deletion);
  }
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) {
    context.progress.forget(key);
    return { settled: true };
  }
  if (isPodKind(manifest.kind)) return convergePods(context, key);
  if (isJobKind(manifest.kind)) await convergeJob(context, manifest);
  else if (manifest.kind === "asset") await convergeAsset(context, key);
  else await storeOnly(context, manifest);
  return { settled: true };
}

/** More rounds than any rollout takes in one go; what is left is taken up by the next call. */
const roundsMax = 200;

async function convergePods(context: Context, key: ManifestKey): Promise<Round> {
  if (!context.engine.up()) return { settled: false };
  for (let round = 0; round < roundsMax; round++) {
    const manifest = context.store.manifests.get(key);
    if (manifest === undefined) return { settled: false, againInMs: 0 };
    const { workload, problems } = resolveStored(context, manifest);
    refuseUnresolved(problems);
    await context.pods.refresh(key);
    const plan = planNow(context, key, workload);
    if (plan.steps.length === 0) context.progress.clearTrouble(key);
    await saveStatus(context, { manifest, workload, plan });
    if (plan.steps.length === 0) {
      return { settled: plan.done, ...(plan.againInMs === undefined ? {} : { againInMs: plan.againInMs }) };
    }
    await execute(context, { key, workload, steps: plan.steps });
    context.progress.clearTrouble(key);
  }
  return { settled: false, againInMs: 0 };
}

function planNow(context: Context, key: ManifestKey, workload: ResolvedWorkload): WorkloadPlan {
  const now = context.clock.now();
  const pods = plannedPods(context, { key, workload, now });
  return planWorkload({ workload: planTarget(workload), pods, frozenIds: untouchedIds(context, key), now });
}

interface Finding {
  manifest: StoredManifest;
  workload: ResolvedWorkload;
  plan: WorkloadPlan;
}

async function saveStatus(context: Context, { manifest, workload, plan }: Finding): Promise<void> {
  const now = context.clock.now();
  const target = `${workload.hash}/${workload.generation}`;
  const started = plan.done ? undefined : context.progress.rolloutStart(manifest, target, now);
  if (plan.done) context.progress.rolloutDone(manifest);
  const trouble = context.progress.trouble(manifest);
  const previous = context.store.status.get(manifest) as Partial<PodKindStatus> | undefined;
  const pods = plannedPods(context, { key: manifest, workload, now });
  const { phase, conditions } = statusOf({
    plan,
    workload: planTarget(workload),
    pods,
    lastError: trouble,
    deadlineAt: started === undefined ? undefined : started + workload.rollout.progressDeadlineMs,
    now,
    previous: previous?.conditions,
  });
  const warnings = notActedUpon(manifest.kind, manifest.spec);
  const status: PodKindStatus = {
    phase,
    image: workload.image,
    image_id: context.store.images.pinOf(manifest)?.imageId,
    spec_hash: workload.hash,
    replicas: workload.replicas,
    ready_replicas: plan.counts.ready,
    updated_replicas: plan.counts.updated,
    frozen_replicas: plan.counts.frozen,
    observed_revision: manifest.revision,
    observed_generation: manifest.generation,
    releases: [],
    init_failures: [],
    replica_readiness: readiness(context, manifest),
    conditions,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(trouble === undefined ? {} : { last_reconcile_error: trouble.message }),
    ...(trouble?.retryAt === undefined ? {} : { next_retry_at: new Date(trouble.retryAt).toISOString() }),
    last_reconcile_at: new Date(now).toISOString(),
  };
  await putStatus(context, manifest, status);
}

function readiness(context: Context, key: ManifestKey): Record<string, unknown> {
  const rows = context.pods
    .of(key)
    .map((pod) => [
      pod.name,
      { container_name: pod.name, replica_id: pod.replicaId, ready: pod.state === "running", startup_passed: true },
    ]);
  return Object.fromEntries(rows.slice(0, 64));
}

/** Written only when it says something new: `last_reconcile_at` alone is not worth a commit. */
export async function putStatus(context: Context, key: ManifestKey, status: Record<string, unknown>): Promise<void> {
  const known = context.store.status.get(key);
  const without = ({ last_reconcile_at: _, ...rest }: Record<string, unknown>) => JSON.stringify(rest);
  if (known === undefined || without(known) !== without(status)) {
    await context.store.write((tx) => {
      // Deleted meanwhile: a status without a manifest would greet the next one of that name.
      if (tx.manifests.get(key) !== undefined) tx.status.put(key, status);
    });
  }
  context.progress.moved.publish(keyText(key));
}

/** Kinds that this version keeps but does not act upon say so. */
async function storeOnly(context: Context, manifest: StoredManifest): Promise<void> {
  const warnings = notActedUpon(manifest.kind, manifest.spec);
  await putStatus(context, manifest, {
    ...statusShape(manifest),
    phase: "stored",
    observed_revision: manifest.revision,
    ...(warnings.length > 0 ? { warnings } : {}),
  });
}

function statusShape({ kind }: StoredManifest): Record<string, unknown> {
  if (kind === "ingress") return { data: {} };
  return {};
}

/** Puts an error where `describe` shows it. */
export async function saveTrouble(context: Context, key: ManifestKey): Promise<void> {
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) return;
  const trouble = context.progress.trouble(key);
  if (!isPodKind(manifest.kind)) {
    const known = context.store.status.get(key) ?? {};
    await putStatus(context, key, { ...known, phase: "failing", last_reconcile_error: trouble?.message });
    return;
  }
  const { workload } = resolveStored(context, manifest);
  await saveStatus(context, { manifest, workload, plan: planNow(context, key, workload) });
}
