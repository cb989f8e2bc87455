import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import type { WorkloadPlan } from "../../core/plan/pod.ts";
import { notActedUpon } from "../../core/unsupported.ts";
import { reportedValues } from "../../core/reported-values.ts";
import { isJobKind } from "../../core/resolve-job.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import { convergeAsset } from "./converge-asset.ts";
import type { Context } from "../state/context.ts";
import { lackingInIngress } from "../pods/leave-ingress.ts";
import { execute } from "../rollout/execute.ts";
import { convergeJob } from "../runs/job-status.ts";
import { interruptible } from "../rollout/interrupt.ts";
import { awaitedAtFirst } from "../rollout/first-start.ts";
import { planNow } from "../rollout/plan-now.ts";
import { latestRelease } from "../rollout/releases.ts";
import { refuseUnresolved, resolveStored } from "../desired/resolve.ts";
import { ensureRelease, judge, memoryOf, rolloutMovedAt, rolloutTarget } from "../rollout/rollout.ts";
import { type Finding, podsNow, putStatus, putTrouble, saveStatus } from "../rollout/save-status.ts";
import { isPodKind } from "../state/target.ts";

/** Settled, or worth another look after `againInMs`. */
interface Round {
  settled: boolean;
  againInMs?: number;
}

/**
 * Brings one resource to what is stored about it. Acts on the state, never on the event that caused the call; safe to
 * call at any time, and to be killed in at any point.
 */
export async function converge(context: Context, key: ManifestKey): Promise<Round> {
  const deletion = context.store.deletions.get(key);
  if (deletion !== undefined) {
    if (!context.link.up()) return { settled: false };
    await context.jobs.cancelAll(key, "the manifest was deleted");
    await context.tearDown.finish(key);
  }
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) {
    context.progress.forget(key);
    context.notes.forget(key);
    context.guards.forget(key);
    context.canaries.forget(key);
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
  if (!context.link.up()) return { settled: false };
  for (let round = 0; round < roundsMax; round++) {
    const manifest = context.store.manifests.get(key);
    if (manifest === undefined) return { settled: false, againInMs: 0 };
    const restored = context.volumeHolds.of(key);
    if (restored !== undefined) return waitForVolume(context, manifest, restored);
    await ensureRelease(context, manifest);
    const awaited = await awaitedAtFirst(context, manifest);
    if (awaited !== undefined) return waitFor(context, manifest, awaited);
    takeUpPhase(context, manifest);
    const target = rolloutTarget(context, manifest);
    if (target === undefined) return waitForPhase(context, manifest);
    const { workload, problems } = resolveStored(context, target);
    if (problems.length > 0) await startStopped(context, { key, workload });
    refuseUnresolved(problems);
    await context.canaries.follow(manifest, workload);
    const known = round === 0 && context.pods.isFresh(key);
    const plan = await untilServed(context, key, await planAfresh(context, { key, workload, known }));
    if (round === 0) await removeInitLeftovers(context, key);
    if (plan.steps.length === 0) settleTrouble(context, key, plan);
    const finding = {
      manifest,
      workload,
      plan,
      movedAt: rolloutMovedAt(context, { manifest, workload, plan, pods: podsNow(context, manifest, workload) }),
    };
    const judgement = await judge(context, { ...finding, pods: podsNow(context, manifest, workload) });
    await Promise.all([judgement.recorded, saveStatus(context, { ...finding, memory: judgement.memory })]);
    if (judgement.moved) {
      // What is wanted now is another spec: the error of the one that failed says nothing about it.
      context.progress.clearTrouble(key);
      continue;
    }
    if (plan.steps.length === 0) {
      const pods = podsNow(context, manifest, workload);
      if (context.gate.isOpen() && (await context.canaries.advance(workload, pods))) continue;
      return rest(context, finding);
    }
    const deadlineAt =
      finding.movedAt === undefined ? undefined : finding.movedAt + workload.rollout.progressDeadlineMs;
    const { steps } = plan;
    await interruptible(context, { manifest, deadlineAt }, (interrupt) =>
      execute(context, { key, workload, steps, interrupt }),
    );
    if (context.closing.aborted) break;
    context.progress.clearTrouble(key);
  }
  return { settled: false, againInMs: 0 };
}

/**
 * Nothing is done on hearsay, but most looks find nothing to do: with `known`, the engine is asked only when there seems
 * to be something.
 */
async function planAfresh(
  context: Context,
  { key, workload, known }: { key: ManifestKey; workload: ResolvedWorkload; known: boolean },
): Promise<WorkloadPlan> {
  const guess = known ? planNow(context, key, workload) : undefined;
  if (guess?.steps.length === 0) return guess;
  await context.pods.refresh(key);
  context.probes.watch(context.pods.of(key));
  context.ports.watch(context.pods.of(key));
  return planNow(context, key, workload);
}

const ingressLookMs = 1_000;

/** A release is not done before the ingress leads to its replicas. */
async function untilServed(context: Context, key: ManifestKey, plan: WorkloadPlan): Promise<WorkloadPlan> {
  if (!plan.done || latestRelease(context, key)?.status !== "running") return plan;
  if (context.store.manifests.list({ kind: "ingress", scope: key.scope }).length === 0) return plan;
  const lacking = await lackingInIngress(context, context.pods.of(key));
  if (lacking === undefined) return plan;
  const againInMs = Math.min(plan.againInMs ?? ingressLookMs, ingressLookMs);
  return { ...plan, done: false, againInMs, waitingFor: lacking };
}

/** What was made when everything was there goes on, and is healed; only nothing new can be made. */
async function startStopped(context: Context, { key, workload }: { key: ManifestKey; workload: ResolvedWorkload }) {
  const plan = await planAfresh(context, { key, workload, known: context.pods.isFresh(key) });
  const steps = plan.steps.filter(({ type }) => type === "start");
  if (steps.length > 0) await execute(context, { key, workload, steps, interrupt: context.closing });
}

/** Init containers that are not waited for any more: their replica was being made when the server ended. */
async function removeInitLeftovers(context: Context, key: ManifestKey): Promise<void> {
  const leftovers = context.pods.of(key).filter(({ role }) => role === "init");
  await Promise.all(leftovers.map((pod) => context.engine.remove(pod)));
}

/** A release whose commands have yet to run; also after a restart of the server in the middle of them. */
function takeUpPhase(context: Context, manifest: StoredManifest): void {
  const release = latestRelease(context, manifest);
  if (release !== undefined) context.releasePhases.takeUp(release);
  context.releasePhases.settle();
}

/** Nothing runs before the first release phase has passed. */
function waitForPhase(context: Context, manifest: StoredManifest): Promise<Round> {
  return waitFor(context, manifest, { text: "the release phase has to pass before the first replica starts" });
}

/** Replicas that run go on, and none is made or started; the end of the restore asks for the next round. */
async function waitForVolume(context: Context, manifest: StoredManifest, volume: string): Promise<Round> {
  const { workload } = resolveStored(context, rolloutTarget(context, manifest) ?? manifest);
  const waitingFor = `volume "${volume}" is being restored; replicas start again when that has ended`;
  const plan = { ...planNow(context, manifest, workload), steps: [], done: false, waitingFor };
  await saveStatus(context, { manifest, workload, plan, movedAt: undefined, memory: memoryOf(context, manifest) });
  return { settled: false };
}

interface Awaited {
  text: string;
  againInMs?: number;
}

/** No replica is made yet. */
async function waitFor(context: Context, manifest: StoredManifest, { text, againInMs }: Awaited): Promise<Round> {
  const { workload } = resolveStored(context, manifest);
  const empty: WorkloadPlan = {
    steps: [],
    againInMs: undefined,
    done: false,
    counts: { ready: 0, updated: 0, frozen: 0, total: 0 },
    waitingFor: text,
  };
  await saveStatus(context, { manifest, workload, plan: empty, movedAt: undefined, memory: {} });
  return againInMs === undefined ? { settled: false } : { settled: false, againInMs };
}

/** Nothing to do: until something changes, the guard looks again, or the progress deadline of what is awaited passes. */
function rest(context: Context, { plan, workload, movedAt }: Omit<Finding, "memory">): Round {
  const deadlineIn = movedAt === undefined ? 0 : movedAt + workload.rollout.progressDeadlineMs - context.clock.steady();
  const guardIn = context.guards.isWatching(workload) ? context.limits.guardLookMs : undefined;
  const waits = [
    plan.againInMs,
    guardIn,
    context.canaries.lookIn(workload),
    deadlineIn > 0 ? deadlineIn + 1 : undefined,
  ].filter((ms) => ms !== undefined);
  return { settled: plan.done, ...(waits.length === 0 ? {} : { againInMs: Math.min(...waits) }) };
}

/** With nothing to do there is no trouble, unless what failed only waits for its next try. */
function settleTrouble({ progress, pods, clock }: Context, key: ManifestKey, { againInMs }: WorkloadPlan): void {
  const trouble = progress.trouble(key);
  const isHeld = ({ id }: { id: string }) => progress.startNotBefore(id) > clock.steady();
  const waits = pods.of(key).some((pod) => pod.state !== "running" && isHeld(pod));
  if (trouble === undefined || againInMs === undefined || !waits) progress.clearTrouble(key);
  else progress.setTrouble(key, { ...trouble, retryAt: clock.now() + againInMs });
}

/** Kinds that this version keeps but does not act upon say so. */
async function storeOnly(context: Context, manifest: StoredManifest): Promise<void> {
  const warnings = notActedUpon(manifest.kind, manifest.spec);
  await putStatus(context, manifest, {
    ...statusShape(context, manifest),
    phase: "stored",
    observed_revision: manifest.revision,
    ...(warnings.length > 0 ? { warnings } : {}),
  });
}

/** `data`: what `${ref.ingress.…}` stands for, over what a plugin said of its route. */
function statusShape({ names, ingressPluginOf }: Context, manifest: StoredManifest): Record<string, unknown> {
  if (manifest.kind !== "ingress") return {};
  const data = reportedValues(manifest, names);
  const routed = ingressPluginOf?.(`${manifest.scope}/${manifest.name}`);
  if (routed === undefined) return { data };
  const trouble = routed.problems.join("; ");
  return {
    plugin: routed.plugin,
    data: { ...routed.data, ...data },
    ...(trouble === "" ? {} : { last_reconcile_error: trouble }),
  };
}

/** Puts an error where `describe` shows it. */
export async function saveTrouble(context: Context, key: ManifestKey): Promise<void> {
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) return;
  const trouble = context.progress.trouble(key);
  if (!isPodKind(manifest.kind)) {
    await putTrouble(context, key, trouble?.message);
    return;
  }
  const { workload } = resolveStored(context, rolloutTarget(context, manifest) ?? manifest);
  const plan = planNow(context, key, workload);
  const movedAt = rolloutMovedAt(context, { manifest, workload, plan, pods: podsNow(context, manifest, workload) });
  await saveStatus(context, { manifest, workload, plan, movedAt, memory: memoryOf(context, manifest) });
}
