import type { ManifestKey, StoredManifest } from "../api/manifest.ts";
import type { WorkloadPlan } from "../core/plan/pod.ts";
import { planWorkload } from "../core/plan/workload.ts";
import { notActedUpon } from "../core/unsupported.ts";
import { isJobKind } from "../core/resolve-job.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import { convergeAsset } from "./converge-asset.ts";
import type { Context } from "./context.ts";
import { execute } from "./execute.ts";
import { convergeJob } from "./job-status.ts";
import { interruptOf } from "./interrupt.ts";
import { planTarget, untouchedIds } from "./observe.ts";
import { latestRelease } from "./releases.ts";
import { refuseUnresolved, resolveStored } from "./resolve.ts";
import { ensureRelease, judge, memoryOf, rolloutTarget } from "./rollout.ts";
import { type Finding, podsNow, putStatus, saveStatus } from "./save-status.ts";
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
    context.notes.forget(key);
    context.releasePhases.settle();
    return { settled: true };
  }
  if (isPodKind(manifest.kind)) return convergePods(context, key);
  if (isJobKind(manifest.kind)) await convergeJob(context, manifest);
  else if (manifest.kind === "asset") await convergeAsset(context, key);
  else await storeOnly(context, manifest);
  context.progress.clearTrouble(key);
  return { settled: true };
}

/** More rounds than any rollout takes in one go; what is left is taken up by the next call. */
const roundsMax = 200;

async function convergePods(context: Context, key: ManifestKey): Promise<Round> {
  if (!context.engine.up()) return { settled: false };
  for (let round = 0; round < roundsMax; round++) {
    const manifest = context.store.manifests.get(key);
    if (manifest === undefined) return { settled: false, againInMs: 0 };
    await ensureRelease(context, manifest);
    takeUpPhase(context, manifest);
    const target = rolloutTarget(context, manifest);
    if (target === undefined) return waitForPhase(context, manifest);
    const { workload, problems } = resolveStored(context, target);
    refuseUnresolved(problems);
    await context.pods.refresh(key);
    context.probes.watch(context.pods.of(key));
    if (round === 0) await removeInitLeftovers(context, key);
    const plan = planNow(context, key, workload);
    if (plan.steps.length === 0) settleTrouble(context, key, plan);
    const finding = { manifest, workload, plan, startedAt: rolloutStart(context, manifest, { workload, plan }) };
    const judgement = await judge(context, { ...finding, pods: podsNow(context, manifest, workload) });
    await saveStatus(context, { ...finding, memory: judgement.memory });
    if (judgement.moved) continue;
    if (plan.steps.length === 0) return rest(context, finding);
    await executeUntilChanged(context, finding);
    if (context.closing.aborted) break;
    context.progress.clearTrouble(key);
  }
  return { settled: false, againInMs: 0 };
}

async function executeUntilChanged(context: Context, { manifest, workload, plan, startedAt }: Omit<Finding, "memory">) {
  const deadlineAt = startedAt === undefined ? undefined : startedAt + workload.rollout.progressDeadlineMs;
  const interrupt = interruptOf(context, manifest, deadlineAt);
  const { kind, scope, name } = manifest;
  try {
    await execute(context, {
      key: { kind, scope, name },
      workload,
      steps: plan.steps,
      interrupt: interrupt.signal,
    });
  } finally {
    interrupt.end();
  }
}

/** Init containers that nobody waits for any more: their replica was being made when the server ended. */
async function removeInitLeftovers(context: Context, key: ManifestKey): Promise<void> {
  const leftovers = context.pods.of(key).filter(({ role }) => role === "init");
  await Promise.all(leftovers.map(({ id }) => context.runtime.remove(id)));
}

/** A release whose commands have yet to run; also after a restart of the server in the middle of them. */
function takeUpPhase(context: Context, manifest: StoredManifest): void {
  const release = latestRelease(context, manifest);
  if (release !== undefined) context.releasePhases.takeUp(release);
  context.releasePhases.settle();
}

/** Nothing runs before the first release phase has passed. */
async function waitForPhase(context: Context, manifest: StoredManifest): Promise<Round> {
  const { workload } = resolveStored(context, manifest);
  const empty: WorkloadPlan = {
    steps: [],
    againInMs: undefined,
    done: false,
    counts: { ready: 0, updated: 0, frozen: 0, total: 0 },
    waitingFor: "the release phase has to pass before the first replica starts",
  };
  await saveStatus(context, { manifest, workload, plan: empty, startedAt: undefined, memory: {} });
  return { settled: false };
}

/** Nothing to do: until something changes, or the progress deadline of what is awaited passes. */
function rest(context: Context, { plan, workload, startedAt }: Omit<Finding, "memory">): Round {
  const deadlineIn =
    startedAt === undefined ? 0 : startedAt + workload.rollout.progressDeadlineMs - context.clock.now();
  const waits = [plan.againInMs, deadlineIn > 0 ? deadlineIn + 1 : undefined].filter((ms) => ms !== undefined);
  return { settled: plan.done, ...(waits.length === 0 ? {} : { againInMs: Math.min(...waits) }) };
}

/** With nothing to do there is no trouble, unless what failed only waits for its next try. */
function settleTrouble({ progress, pods, clock }: Context, key: ManifestKey, { againInMs }: WorkloadPlan): void {
  const now = clock.now();
  const trouble = progress.trouble(key);
  const waits = pods.of(key).some((pod) => pod.state !== "running" && progress.startNotBefore(pod.id) > now);
  if (trouble === undefined || againInMs === undefined || !waits) progress.clearTrouble(key);
  else progress.setTrouble(key, { ...trouble, retryAt: now + againInMs });
}

function planNow(context: Context, key: ManifestKey, workload: ResolvedWorkload): WorkloadPlan {
  const now = context.clock.now();
  const pods = podsNow(context, key, workload);
  return planWorkload({ workload: planTarget(workload), pods, frozenIds: untouchedIds(context, key), now });
}

/** When the rollout under way began; a settled resource has none. */
function rolloutStart(
  context: Context,
  manifest: StoredManifest,
  { workload, plan }: { workload: ResolvedWorkload; plan: WorkloadPlan },
): number | undefined {
  if (plan.done) {
    context.progress.rolloutDone(manifest);
    return undefined;
  }
  const target = `${latestRelease(context, manifest)?.id}/${workload.hash}/${workload.generation}`;
  return context.progress.rolloutStart(manifest, target, context.clock.now());
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
    const known = context.notes.status(key) ?? {};
    await putStatus(context, key, { ...known, phase: "failing", last_reconcile_error: trouble?.message });
    return;
  }
  const { workload } = resolveStored(context, rolloutTarget(context, manifest) ?? manifest);
  const plan = planNow(context, key, workload);
  const startedAt = rolloutStart(context, manifest, { workload, plan });
  await saveStatus(context, { manifest, workload, plan, startedAt, memory: memoryOf(context, manifest) });
}
