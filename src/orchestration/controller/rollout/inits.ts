import { Failure } from "../../../base/wire/failure.ts";
import { initContainerName, oneOffSpec } from "../../core/one-off-spec.ts";
import type { ResolvedInit, ResolvedWorkload } from "../../core/workload.ts";
import type { PodRef } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";
import { ensureImageRef } from "../desired/images.ts";
import type { Interruption } from "./interrupt.ts";
import { type OneOffResult, runOneOff } from "../state/one-off.ts";

interface InitRun {
  workload: ResolvedWorkload;
  replicaId: string;
  /** Image of the main container: what an init without one of its own runs on. */
  imageRef: string;
  /** See `interrupt.ts`. */
  interrupt: AbortSignal;
}

const retryPauseMs = 2_000;
const changed: Interruption = "changed";

/**
 * The init chain of one replica: each to its end, in order, before the replica's container is made. The first that
 * does not succeed ends the attempt; why is kept for the status. False when the replica is not wanted any more.
 */
export async function runInits(context: Context, run: InitRun): Promise<boolean> {
  for (const init of run.workload.inits) if (!(await runInit(context, run, init))) return false;
  context.progress.clearInitFailures(run.workload, run.replicaId);
  return true;
}

async function runInit(context: Context, run: InitRun, init: ResolvedInit): Promise<boolean> {
  const { interrupt } = run;
  for (let attempt = 1; ; attempt++) {
    const { result, containerId, image } = await tryInit(context, run, init);
    if (result.end === "exited" && result.exitCode === 0) return true;
    if (interrupt.reason === changed) return false;
    if (attempt <= init.retries && !interrupt.aborted) {
      await context.clock.sleep(retryPauseMs, interrupt);
      continue;
    }
    const { scope, name } = run.workload;
    const error = `${endText(init, result)}; for its output: berth why ${scope}/${name}`;
    await keepDeath(context, run, { result, containerId, image, reason: endText(init, result) });
    context.progress.addInitFailure(run.workload, {
      replica_id: run.replicaId,
      init_name: init.name,
      exit_code: result.end === "exited" ? result.exitCode : -1,
      error,
      attempts: attempt,
      recorded_at: new Date(context.clock.now()).toISOString(),
    });
    throw new Failure("conflict", error, { reason: "InitFailed" });
  }
}

async function tryInit(context: Context, { workload, replicaId, imageRef, interrupt }: InitRun, init: ResolvedInit) {
  const { kind, scope, name } = workload;
  const image = init.image === undefined ? imageRef : await ensureImageRef(context, workload, init.image);
  const template = {
    ...workload.container,
    nanoCpus: init.nanoCpus,
    memoryBytes: init.memoryBytes,
    ulimits: init.ulimits,
    options: init.options ?? workload.container.options,
  };
  const one = {
    kind,
    scope,
    name,
    containerName: initContainerName(workload, init.name, replicaId),
    replicaId,
    role: "init" as const,
    imageRef: image,
    command: init.command,
    createdAt: context.clock.now(),
  };
  const spec = oneOffSpec(template, one, context.names);
  let containerId = "";
  const onStarted = async ({ id }: PodRef): Promise<void> => {
    containerId = id;
  };
  const { timeoutMs } = init;
  const result = await runOneOff(context, { spec, timeoutMs, signal: interrupt, leave: context.closing, onStarted });
  return { result, containerId, image };
}

interface Ended {
  result: OneOffResult;
  containerId: string;
  image: string;
  reason: string;
}

/** Its output may hold secrets, so it goes where only `why` tells it, and neither into an error nor into the log. */
async function keepDeath(
  context: Context,
  { workload, replicaId }: InitRun,
  { result, containerId, image, reason }: Ended,
): Promise<void> {
  const { kind, scope, name, hash } = workload;
  await context.deaths.keep({
    ...{ kind, scope, name, hash, replicaId, containerId, image, reason },
    at: result.endedAt,
    exitCode: result.end === "exited" ? result.exitCode : undefined,
    oomKilled: result.oomKilled,
    releaseId: undefined,
    logs: result.tail,
    probes: [],
  });
}

function endText(init: ResolvedInit, result: OneOffResult): string {
  if (result.end === "cancelled") return `init "${init.name}" did not end within the progress deadline`;
  if (result.end === "timed_out") return `init "${init.name}" did not end within its timeout`;
  const memory = result.oomKilled ? " (out of memory)" : "";
  return `init "${init.name}" ended with exit code ${result.exitCode}${memory}`;
}
