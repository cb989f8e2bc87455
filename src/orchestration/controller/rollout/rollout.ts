import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import { type HaltedConfig, targetOf } from "../../core/plan/target.ts";
import type { PlannedPod, WorkloadPlan } from "../../core/plan/pod.ts";
import { awaitsDepartures, reachedBy, type Verdict, verdictOf } from "../../core/plan/verdict.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { RolloutMemory } from "../../store/look-records.ts";
import type { Delivery, ReleaseRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { heldByRuns } from "../state/plugin-holds.ts";
import { imageIdOf, pinImage } from "../desired/images.ts";
import { deployCalls, putCalls } from "../state/webhooks.ts";
import { isOfRelease } from "./guard.ts";
import { planTarget } from "../state/observe.ts";
import type { Pod } from "../state/pod.ts";
import { isCopiedForReturn } from "./copy-before.ts";
import { failureCalls, recordFailure } from "./failed-release.ts";
import { faultCount } from "./put-back.ts";
import { latestRelease, mintRelease, needsRelease } from "./releases.ts";

/** What replicas of the resource are made from now; undefined while its first release phase has not passed. */
export function rolloutTarget(context: Context, manifest: StoredManifest): StoredManifest | undefined {
  return targetOf({
    manifest,
    releases: context.store.releases.list(manifest),
    halted: haltedConfig(memoryOf(context, manifest)),
    faultsOf: faultCount(context, manifest.kind),
  });
}

export function memoryOf(context: Context, key: ManifestKey): RolloutMemory {
  return context.notes.look(key)?.memory ?? {};
}

function haltedConfig({ halted, goodGeneration }: RolloutMemory): HaltedConfig | undefined {
  if (halted === undefined || goodGeneration === undefined) return undefined;
  return { generation: halted.generation, goodGeneration };
}

/** What one look knows of a rollout. */
interface Rollout {
  manifest: StoredManifest;
  workload: ResolvedWorkload;
  plan: WorkloadPlan;
  pods: PlannedPod[];
  /** See `VerdictInput`; undefined when it is settled. */
  movedAt: number | undefined;
}

/** When the rollout under way last got further, or began; a settled resource has none. */
export function rolloutMovedAt(
  context: Context,
  { manifest, workload, plan, pods }: Omit<Rollout, "movedAt">,
): number | undefined {
  if (plan.done) {
    context.progress.rolloutDone(manifest);
    return undefined;
  }
  // A step takes as long as it takes, and so do a run of a plugin and a drain that is all that is left to wait for.
  const isWaiting =
    context.canaries.isWaiting(workload, pods) ||
    heldByRuns(context, manifest).length > 0 ||
    awaitsDepartures(plan, pods, planTarget(workload));
  if (isWaiting) context.progress.rolloutDone(manifest);
  const target = `${latestRelease(context, manifest)?.id}/${workload.hash}/${workload.generation}`;
  const reached = reachedBy(pods, planTarget(workload));
  return context.progress.rolloutMovedAt(manifest, { target, reached, now: context.clock.steady() });
}

/** What came of looking: the memory for the next look, and whether the target moved, so that it is planned again. */
interface Judgement {
  memory: RolloutMemory;
  moved: boolean;
  /** What is still being written about it, in the order of the calls; what is written next shares its commit. */
  recorded?: Promise<void>;
}

/** A resource of a version before releases gets its record here. */
export async function ensureRelease(context: Context, manifest: StoredManifest): Promise<void> {
  if (latestRelease(context, manifest) !== undefined) return;
  await context.store.write((tx) => {
    if (needsRelease(tx, manifest)) {
      mintRelease(context, tx, { manifest, cause: "apply", now: context.clock.now() });
    }
  });
}

/** Decides after each look how the rollout under way stands, and records its end. */
export async function judge(context: Context, rollout: Rollout): Promise<Judgement> {
  const { manifest, workload, plan, pods, movedAt } = rollout;
  const memory = memoryOf(context, manifest);
  const release = latestRelease(context, manifest);
  const lastError = context.progress.trouble(manifest);
  const now = context.clock.steady();
  const found = verdictOf({
    plan,
    workload: planTarget(workload),
    pods,
    movedAt: movedAt ?? now,
    lastError,
    guardFault: context.guards.fault(workload),
    isAtomic: lastError !== undefined && release !== undefined && isInAtomic(context, release),
    now,
  });
  const verdict = (await isOutage(context, manifest, found)) ? ({ outcome: "going" } as const) : found;
  if (release !== undefined && (release.status === "running" || cameUpLate(context, release, verdict))) {
    return judgeRelease(context, { ...rollout, release, verdict, memory });
  }
  return judgeGeneration(context, { ...rollout, verdict, memory });
}

const outageLookMs = 2_000;

/** A deadline that passes while the engine does not answer has not passed: the time of an outage does not count. */
async function isOutage(context: Context, key: ManifestKey, verdict: Verdict): Promise<boolean> {
  if (verdict.outcome !== "failed" || !verdict.reasons.includes("ProgressDeadline")) return false;
  if (await context.link.answers()) return false;
  context.enqueue(key, outageLookMs);
  return true;
}

/** Whether an apply that keeps all or nothing waits for a release. */
function isInAtomic({ store }: Context, { id }: ReleaseRecord): boolean {
  return store.atomic.waiting().some(({ members }) => members.some(({ release }) => release === id));
}

/** With nothing good to return to, a failed release is tried on; at last it may be ready after all. */
function cameUpLate(context: Context, release: ReleaseRecord, verdict: Verdict): boolean {
  if (release.status !== "failed" || verdict.outcome !== "done") return false;
  return !context.store.releases.list(release).some(({ good }) => good);
}

interface ReleaseRollout extends Rollout {
  release: ReleaseRecord;
  verdict: Verdict;
  memory: RolloutMemory;
}

async function judgeRelease(context: Context, rollout: ReleaseRollout): Promise<Judgement> {
  const { release, verdict, manifest, workload, memory } = rollout;
  if (verdict.outcome === "going") return { memory, moved: false };
  if (verdict.outcome === "done") {
    // A client that waits for a canary relies on where requests go once it has succeeded.
    if (context.store.canaries.get(release) !== undefined) await context.ingressGate?.caughtUp(context.closing);
    const calls = await successCalls(context, { release, manifest, workload });
    const recorded = succeed(context, { release, workload, calls });
    // The status tells of a failed release until it is none any more.
    if (release.status === "failed") await recorded;
    return { memory: settledMemory(workload), moved: false, recorded };
  }
  return fail(context, { release, manifest, workload, verdict, memory });
}

type Succeeding = Pick<Failing, "release" | "manifest" | "workload">;

function successCalls(context: Context, { release, manifest, workload }: Succeeding): Promise<Delivery[]> {
  const { id: releaseId, startedAt } = release;
  return deployCalls(context, { manifest, releaseId, image: workload.image, startedAt, error: undefined });
}

async function succeed(
  context: Context,
  { release, workload, calls }: { release: ReleaseRecord; workload: ResolvedWorkload; calls: Delivery[] },
): Promise<void> {
  const now = context.clock.now();
  const { kind, scope, name } = release;
  const record = (tx: Transaction) => {
    const known = tx.releases.now(release);
    if (known === undefined || known.good) return;
    const imageId = imageIdOf(tx, release, known.hash) ?? known.imageId;
    tx.releases.put({ ...known, status: "succeeded", good: true, endedAt: now, imageId, error: undefined });
    context.receipts.record(tx, { ...known, endedAt: now });
    if (tx.canaries.get(release)?.mode !== "kept") tx.canaries.remove(release);
    const detail = { release: release.id, image: workload.image, cause: release.cause };
    tx.events.append({ actor: "reconciler", action: "release.succeeded", kind, scope, name, detail }, now);
    putCalls(tx, calls);
  };
  // Lost in a power cut, it is found again by looking; only messages to others must not be sent twice.
  await context.store.write(record, { durable: calls.length > 0 });
  if (calls.length > 0) context.outbox.wake();
  const done = context.store.releases.now(release);
  if (done !== undefined) context.releasePhases.takeUp(done);
  context.receipts.completeLater({ ...release, endedAt: now });
  context.releasePhases.settle();
}

interface Failing {
  release: ReleaseRecord;
  manifest: StoredManifest;
  workload: ResolvedWorkload;
  verdict: Extract<Verdict, { outcome: "failed" }>;
  memory: RolloutMemory;
}

/** Records the failure. A spec that had worked before, and is released again by a release run, stops where it is. */
async function fail(context: Context, { release, manifest, workload, verdict, memory }: Failing): Promise<Judgement> {
  if (!isCopiedForReturn(context, release)) return { memory, moved: false };
  const failure = { error: verdictText(verdict), reasons: verdict.reasons };
  const { error } = failure;
  // Replicas that fail visitors run well in every other way: what they printed is worth keeping.
  const isAtFault = (pod: Pod) => verdict.reasons.includes("GuardTripped") && isOfRelease(workload, pod);
  await context.deaths.capsule(manifest, error, isAtFault);
  const calls = await failureCalls(context, { release, error, image: workload.image });
  const now = context.clock.now();
  const came = await context.store.write((tx) => {
    const after = recordFailure(context, tx, { release, failure, calls, now });
    if (after.is !== "superseded") context.receipts.record(tx, { ...release, endedAt: now });
    if (after.is === "alone") return after.worked ? "halted" : "the same";
    if (after.is !== "kept") return after.is === "put back" ? "moved" : "the same";
    const { goal, stored } = after;
    if (goal.hash !== release.hash) return "moved";
    // Another image of the same spec: the replicas that there are stay on the one before.
    pinImage(tx, goal, { generation: memory.goodGeneration ?? stored.generation, now });
    return "halted";
  });
  if (calls.length > 0) context.outbox.wake();
  context.receipts.completeLater({ ...release, endedAt: now });
  context.releasePhases.settle();
  if (came === "halted") return { memory: halt(memory, manifest, error), moved: true };
  return { memory, moved: came === "moved" };
}

/** `CrashLoop: shop-web.k3x7a crash-loops: …` */
function verdictText({ reasons: [reason], message }: Failing["verdict"]): string {
  return `${reason}: ${message}`;
}

function settledMemory({ generation, replicas }: ResolvedWorkload): RolloutMemory {
  return { goodGeneration: generation, goodReplicas: replicas };
}

/** Replicas of the generation that worked go on; the next write or restart tries again. */
function halt(memory: RolloutMemory, { generation }: StoredManifest, reason: string): RolloutMemory {
  return { ...memory, goodGeneration: memory.goodGeneration ?? generation, halted: { generation, reason } };
}

interface GenerationRollout extends Rollout {
  verdict: Verdict;
  memory: RolloutMemory;
}

/** A restart or a config change: no release, and nothing to put back; a bad one stops where it is. */
async function judgeGeneration(context: Context, rollout: GenerationRollout): Promise<Judgement> {
  const { manifest, workload, verdict, memory } = rollout;
  const { goodGeneration: good, halted } = memory;
  if (halted !== undefined && halted.generation === manifest.generation) return { memory, moved: false };
  const { halted: _, ...rest } = memory;
  if (verdict.outcome === "done") return { memory: settledMemory(workload), moved: false };
  if (verdict.outcome === "going" || good === undefined || good >= manifest.generation) {
    return { memory: rest, moved: false };
  }
  const reason = verdictText(verdict);
  await context.deaths.capsule(manifest, reason);
  const { kind, scope, name, generation } = manifest;
  const { clock } = context;
  // As the wall clock has it: the steady one is for durations alone.
  const startedAt = rollout.movedAt === undefined ? clock.now() : clock.now() - (clock.steady() - rollout.movedAt);
  const calls = await deployCalls(context, {
    manifest,
    releaseId: undefined,
    image: workload.image,
    startedAt,
    error: reason,
  });
  await context.store.write((tx) => {
    const detail = { generation, error: reason };
    tx.events.append({ actor: "reconciler", action: "rollout.halted", kind, scope, name, detail }, context.clock.now());
    putCalls(tx, calls);
  });
  if (calls.length > 0) context.outbox.wake();
  return { memory: halt(memory, manifest, reason), moved: true };
}
