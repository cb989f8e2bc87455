import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { assetRefs } from "../../core/assets.ts";
import { containerSpec } from "../../core/container-spec.ts";
import { isCurrent } from "../../core/plan/classify.ts";
import type { PlannedPod, Step } from "../../core/plan/pod.ts";
import { replicaId } from "../../../base/pure/replica-id.ts";
import type { ContainerSpec, ContainerTemplate, ResolvedWorkload } from "../../core/workload.ts";
import type { PodRef } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";
import { mayLeave } from "../pods/leave-ingress.ts";
import { portsOf } from "../pods/ports.ts";
import { specOf } from "../state/pod-spec.ts";
import { refuseHeldPorts } from "../desired/host-ports.ts";
import { withInit } from "../desired/init-process.ts";
import { ensureImage, ensureImageRef, type ImageUse } from "../desired/images.ts";
import { runInits } from "./inits.ts";
import { note } from "./note-replica.ts";
import { remove } from "./remove-replica.ts";
import { ensureVolumes, requireProtected } from "../desired/named-volumes.ts";
import { ensureClaims } from "../desired/volumes.ts";

interface Execution {
  key: ManifestKey;
  workload: ResolvedWorkload;
  steps: Step[];
  /** Ends what may take long and is not wanted any more; see `interrupt.ts`. */
  interrupt: AbortSignal;
}

/**
 * Does the steps of one plan, side by side. All of them are tried; then the first error is thrown, so that one
 * replica that cannot start does not hold up the others.
 */
export async function execute(context: Context, { key, workload, steps, interrupt }: Execution): Promise<void> {
  const making = steps.some((step) => step.type === "create");
  if (making) await requireProtected(context, key, workload.container.mounts);
  const imageRef = making || stopsFirst(steps, workload) ? await prepare(context, workload) : "";
  // What a replica needs is here before the one that it takes the place of is stopped.
  if (stopsFirst(steps, workload)) await prepareReplacement(context, workload);
  const taken = new Set(context.pods.of(key).map((pod) => pod.replicaId));
  const results = await Promise.allSettled(
    steps.map((step) => perform(context, { key, workload, step, imageRef, taken, interrupt })),
  );
  const failed = results.find((result) => result.status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Whether a replica that runs goes before the one that takes its place is made. */
function stopsFirst(steps: readonly Step[], workload: ResolvedWorkload): boolean {
  const { kind, rollout, replicas } = workload;
  if (replicas === 0 || (kind === "deployment" && rollout.strategy !== "recreate")) return false;
  return steps.some((step) => {
    if (step.type !== "remove" || step.pod.state !== "running") return false;
    return (step.pod.ordinal ?? 0) < replicas && !isCurrent(step.pod, workload);
  });
}

async function prepareReplacement(context: Context, workload: ResolvedWorkload): Promise<void> {
  for (const { image } of workload.inits) if (image !== undefined) await ensureImageRef(context, workload, image);
  await refuseHeldPorts(context, workload);
}

/** What a container is made from, whether it is a replica or a run of a job. */
interface Preparable extends ImageUse {
  container: ContainerTemplate;
}

/** What must be there before a container can be created. Returns the image reference to create from. */
export async function prepare(context: Context, workload: Preparable): Promise<string> {
  await requireAssets(context, workload);
  if (workload.container.networkMode === "bridge") {
    for (const network of [context.names.network, ...workload.container.networks]) {
      await context.engine.ensureNetwork(network);
    }
  }
  await ensureVolumes(context, workload.container);
  return ensureImage(context, workload);
}

/** A mount whose file is missing or altered would show the app something that was never applied. */
async function requireAssets(context: Context, workload: Preparable): Promise<void> {
  for (const { assetDigest, target } of workload.container.mounts) {
    if (assetDigest === undefined || (await context.assets.verify(assetDigest)) === "ok") continue;
    mendAssets(context, workload);
    throw new Failure(
      "unavailable",
      `the asset file for ${target} is missing or altered on disk; it is written again from its asset`,
      { reason: "AssetUnavailable" },
    );
  }
}

function mendAssets(context: Context, workload: Preparable): void {
  const manifest = context.store.manifests.get(workload);
  if (manifest === undefined) return;
  for (const { candidates } of assetRefs(manifest)) {
    for (const { scope, name } of candidates) context.enqueue({ kind: "asset", scope, name });
  }
}

interface Performance {
  key: ManifestKey;
  workload: ResolvedWorkload;
  step: Step;
  imageRef: string;
  taken: Set<string>;
  interrupt: AbortSignal;
}

/** Starts are what loads a machine, and have to queue; inits and stops mostly wait, and must not keep a start waiting. */
async function perform(context: Context, performance: Performance): Promise<void> {
  const { key, workload, step } = performance;
  switch (step.type) {
    case "create":
      return create(context, { ...performance, ordinal: step.ordinal, why: step.why });
    case "start":
      return heal(context, { ...performance, pod: step.pod, why: step.why });
    case "remove": {
      const mustStand = workload.replicas > 0 && step.pod.state === "running";
      if (mustStand && !(await mayLeave(context, { id: step.pod.id, name: step.pod.containerName }))) return;
      const removed = remove(context, { key, workload, step });
      if (!step.beside || context.departures.hasFailed(step.pod.id)) return removed;
      return context.departures.begin(key, step.pod.id, removed);
    }
    case "rename":
      return context.engine.rename(step.pod, step.to);
  }
}

interface Creation extends Omit<Performance, "key" | "step"> {
  ordinal: number | undefined;
  why: string;
}

async function create(context: Context, creation: Creation): Promise<void> {
  const { workload, ordinal, imageRef, taken, interrupt } = creation;
  if (ordinal !== undefined) await ensureClaims(context, workload, ordinal);
  const id = ordinal === undefined ? freshReplicaId(context, taken) : String(ordinal);
  const wanted = await runInits(context, { workload, replicaId: id, imageRef, interrupt });
  if (wanted) await startNew(context, creation, id);
}

/** A container that cannot start is not left behind: the next try makes a new one from what is true then. */
async function startNew(context: Context, { workload, ordinal, why, imageRef }: Creation, id: string): Promise<void> {
  const createdAt = context.clock.now();
  const ingressPorts = ingressPortsOf(context, workload, ordinal);
  const replica = { replicaId: id, imageRef, createdAt, ingressPorts, ...(ordinal === undefined ? {} : { ordinal }) };
  const { spec, missing } = await withInit(
    context,
    containerSpec(workload, replica, context.names),
    workload.container,
  );
  // Starts are what loads a machine; init chains before and stops elsewhere mostly wait.
  const pod = await context.starts(() => createAndStart(context, { spec, workload, replica: id }));
  await stopIfFrozen(context, workload, { replica: id, pod });
  await note(context, workload, {
    action: "replica.create",
    replica: id,
    why: [why, missing].filter(Boolean).join("; "),
  });
}

/** What visitors are sent to once it is ready. */
function ingressPortsOf(context: Context, workload: ResolvedWorkload, ordinal: number | undefined): number[] {
  const { kind, scope, name, hash } = workload;
  const key = { kind, scope, name };
  const spec = specOf(context, { key, hash });
  return spec === undefined ? [] : [...portsOf(context, { key, ordinal, spec }).keys()];
}

/** One that was frozen since the plan was made is not started, for however short a time: another may take its place. */
async function createAndStart(
  context: Context,
  { spec, workload, replica }: { spec: ContainerSpec; workload: ResolvedWorkload; replica: string },
): Promise<PodRef> {
  const { engine } = context;
  const pod = await engine.create(spec);
  if (isFrozen(context, workload, replica)) return pod;
  try {
    await engine.start(pod);
  } catch (error) {
    await engine.remove(pod);
    throw error;
  }
  return pod;
}

/** By hand, or because its volume is being restored. */
function isFrozen({ store, volumeHolds }: Context, workload: ResolvedWorkload, replica: string): boolean {
  return store.frozen.list(workload).includes(replica) || volumeHolds.of(workload) !== undefined;
}

/** Frozen while we were at it: its caller has the answer that it is stopped. */
async function stopIfFrozen(
  context: Context,
  workload: ResolvedWorkload,
  { replica, pod }: { replica: string; pod: PodRef },
): Promise<void> {
  if (!isFrozen(context, workload, replica)) return;
  await context.engine.stop(pod, { graceMs: workload.container.stopGraceMs });
}

function freshReplicaId(context: Context, taken: Set<string>): string {
  for (;;) {
    const id = replicaId(context.randomBytes(5));
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}

/** Refusals that go away by themselves; a container refused for another reason is recreated. */
const waitable = new Set(["PortTaken", "EngineUnavailable", "Timeout", "MountMissing", "DiskLow"]);

interface Healing extends Pick<Performance, "key" | "workload" | "interrupt"> {
  pod: PlannedPod;
  why: string;
}

async function heal(context: Context, { key, workload, pod, why, interrupt }: Healing): Promise<void> {
  const { id, replicaId: replica } = pod;
  context.progress.started(id, context.clock.steady());
  const died = context.pods.byId(id);
  const death = died?.state === "exited" && !died.restored ? { ...died } : undefined;
  try {
    // Something else is wanted since the plan was made: an outdated one is recreated, never started as it was.
    const isDone = await context.starts(async () => {
      if (interrupt.aborted || isFrozen(context, workload, replica)) return false;
      await context.engine.start(pod);
      return true;
    });
    if (!isDone) return;
  } catch (error) {
    if (error instanceof Failure && error.code === "not_found") return;
    const isWaitable = error instanceof Failure && waitable.has(error.reason ?? "");
    if (!isWaitable || error.anew) await context.engine.remove(pod);
    throw error;
  }
  await stopIfFrozen(context, workload, { replica, pod });
  // The engine's own policy was faster: that counts, and is recorded.
  if (death !== undefined && (await restartsOf(context, pod)) > death.restarts) return;
  // Afterwards, since the start must not wait for a record: its output is still there.
  if (death !== undefined) {
    context.pods.healed(id);
    await context.deaths.record(death, why);
  }
  await note(context, key, { action: "replica.start", replica, why });
}

/** As the engine counts them now; a start of ours has set them to 0. */
async function restartsOf({ engine }: Context, pod: PodRef): Promise<number> {
  const detail = await engine.inspect(pod).catch(() => undefined);
  return detail?.restartCount ?? 0;
}
