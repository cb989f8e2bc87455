import { doubledWait } from "../../../base/pure/doubling.ts";

import { isDiskRefusal } from "../../../base/wire/disk-failure.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { StoredManifest } from "../../api/manifest.ts";
import { oneOffSpec } from "../../core/one-off-spec.ts";
import type { ResolvedJob } from "../../core/resolve-job.ts";
import { jobOf } from "../../core/spec/decode.ts";
import type { ContainerSpec } from "../../core/workload.ts";
import { unlessAborted } from "../../../base/words/abort.ts";
import { enter, type Limit } from "../../../base/words/limit.ts";
import type { InspectedPod } from "../../engine/pod.ts";
import type { RunRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { prepare } from "../rollout/execute.ts";
import type { RunSignals } from "../state/job-table.ts";
import { LeftRunning, runOneOff } from "../state/one-off.ts";
import { refuseUnresolved, resolveStoredJob } from "../desired/resolve.ts";
import { removeLeftovers } from "./run-leftovers.ts";
import { afterFailure, afterTry, endedWithout } from "./run-outcome.ts";
import { endRun, isUnfinished, moveRun, runContainerName } from "./run-record.ts";

interface Carrying extends RunSignals {
  /** Its row is written. */
  run: RunRecord;
  /** How many containers are started at one time. */
  starts: Limit;
}

const engineLookMs = 1_000;

/**
 * Brings a run to its end from wherever it stands: nothing done yet, its container under way or ended, between two
 * tries. Returns the record at its end; undefined when the server left before. Rejects only when the store does.
 */
export async function carryOut(context: Context, carrying: Carrying): Promise<RunRecord | undefined> {
  const { cancel, leave } = carrying;
  let run = carrying.run;
  while (isUnfinished(run)) {
    if (leave.aborted) return undefined;
    run = await carryOn(context, { ...carrying, run }).catch((error) => {
      if (error instanceof LeftRunning) return run;
      if (!isPassing(error)) throw error;
      return context.clock.sleep(engineLookMs, AbortSignal.any([cancel, leave])).then(() => reread(context, run));
    });
  }
  return run;
}

/** The engine is away or busy: what it did meanwhile shows when it is back. */
function isPassing(error: unknown): boolean {
  return error instanceof Failure && (error.reason === "EngineUnavailable" || error.code === "timeout");
}

function reread(context: Context, run: RunRecord): RunRecord {
  return (
    context.store.runs.get(run.id) ?? endedWithout(run, { status: "cancelled", error: deleted, now: now(context) })
  );
}

const deleted = "the manifest was deleted";

/** One step on the way; what it returns is stored already. */
async function carryOn(context: Context, carrying: Carrying): Promise<RunRecord> {
  const { run, cancel, leave } = carrying;
  const { clock, link, limits, store } = context;
  const signal = AbortSignal.any([cancel, leave]);
  const manifest = store.manifests.get(run);
  if (manifest === undefined || store.runs.get(run.id) === undefined) return close(context, run, deleted);
  if (cancel.aborted && (run.status === "scheduled" || !link.up())) return close(context, run, String(cancel.reason));
  if (run.status === "scheduled" && run.attempt > 1) {
    const backoff = { firstMs: limits.backoffFirstMs, maxMs: limits.backoffMaxMs };
    await clock.sleep(doubledWait(backoff, run.attempt - 1), signal);
  }
  if (!link.up()) {
    if (isTooLate(context, run, manifest)) return giveUp(context, run);
    await clock.sleep(engineLookMs, AbortSignal.any([signal, carrying.engineBack()]));
    return run;
  }
  if (signal.aborted && run.status === "scheduled") return run;
  return tryOnce(context, { ...carrying, manifest });
}

interface Trying extends Carrying {
  manifest: StoredManifest;
}

async function tryOnce(context: Context, trying: Trying): Promise<RunRecord> {
  const { run, manifest } = trying;
  const known = await context.engine.inspect(context.engine.named(runContainerName(run)));
  if (known === undefined && run.status === "running") {
    return finish(context, { run, status: "failed", error: "the container is gone; how it ended is not known" });
  }
  if (known === undefined && isTooLate(context, run, manifest)) return giveUp(context, run);
  const { job, problems } = resolveStoredJob(context, manifest);
  try {
    if (known === undefined) refuseUnresolved(problems);
    return await runContainer(context, { ...trying, job, known });
  } catch (error) {
    // What the disk refused to record is tried again; an image that finds no room in the engine is another matter.
    if (!(error instanceof Failure) || error instanceof LeftRunning || isPassing(error) || isDiskRefusal(error))
      throw error;
    const message = error.code === "not_found" ? "the container was removed while it ran" : error.message;
    const failed = endedWithout(run, { status: "failed", error: message, now: now(context) });
    return save(context, afterFailure({ ...failed, reason: error.reason }, message, job));
  }
}

interface Container extends Trying {
  job: ResolvedJob;
  known: InspectedPod | undefined;
}

async function runContainer(context: Context, container: Container): Promise<RunRecord> {
  const { run, job, known, cancel, leave, starts } = container;
  const signal = AbortSignal.any([cancel, leave]);
  const imageRef = known?.imageId ?? (await unlessAborted(makeReady(context, job, run), signal));
  if (imageRef === undefined) return run;
  const started = await enter(starts);
  const outdated = new AbortController();
  let after = run;
  try {
    if (known === undefined && signal.aborted) return run;
    await runOneOff(context, {
      spec: runSpec(context, { job, run, imageRef }),
      timeoutMs: job.timeoutMs,
      signal: AbortSignal.any([cancel, outdated.signal]),
      leave,
      async onStarted() {
        started();
        const running = { ...run, status: "running" as const, startedAt: startOf(context, run) };
        if (await context.store.write((tx) => moveRun(tx, running))) after = running;
        else outdated.abort("replaced or deleted meanwhile");
      },
      async onEnded(result) {
        const cancelled = String(cancel.aborted ? cancel.reason : outdated.signal.reason);
        after = await save(context, afterTry(after, result, { ...job, cancelled }));
      },
      // With the record of its run; the history has cut those before it, and their containers go now.
      stays: () => !isUnfinished(after) && context.store.runs.get(after.id) !== undefined,
    });
    if (!isUnfinished(after)) await tidy(context, after);
    return after;
  } finally {
    started();
  }
}

/** From now on its container is one that is listed, and those of runs that the history has cut go. */
async function tidy(context: Context, run: RunRecord): Promise<void> {
  try {
    await context.pods.refresh(run);
    await removeLeftovers(context, run);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The run has ended all the same; a round over its job does it.
    context.enqueue(run);
  }
}

function startOf(context: Context, { status, attempt, startedAt }: RunRecord): number | undefined {
  return status === "scheduled" && attempt === 1 ? context.clock.now() : startedAt;
}

/** What must be there before the container can be made. Returns the image reference to make it from. */
async function makeReady(context: Context, job: ResolvedJob, run: RunRecord): Promise<string> {
  await removeLeftovers(context, run);
  return prepare(context, { ...job, askEachTime: run.attempt === 1 });
}

function runSpec(
  context: Context,
  { job, run, imageRef }: { job: ResolvedJob; run: RunRecord; imageRef: string },
): ContainerSpec {
  const { kind, scope, name } = run;
  const createdAt = context.clock.now();
  const { command } = job.container;
  const one = { kind, scope, name, containerName: runContainerName(run), replicaId: run.id, role: "job" as const };
  return oneOffSpec(job.container, { ...one, imageRef, command, createdAt }, context.names);
}

/** How long after its moment the first try may begin. */
function isTooLate(context: Context, { status, attempt, instant, startedAt }: RunRecord, manifest: StoredManifest) {
  if (status !== "scheduled" || attempt > 1) return false;
  const deadlineMs = jobOf(manifest)?.startingDeadlineMs ?? 0;
  return now(context) - (instant ?? startedAt ?? 0) > deadlineMs;
}

/** A run that never began: of a schedule it is missed, asked for by hand it failed. */
function giveUp(context: Context, run: RunRecord): Promise<RunRecord> {
  const error = "the server or the container engine was away until it was too late to start";
  if (run.instant === undefined) return finish(context, { run, status: "failed", error });
  return save(context, { ...run, status: "missed", error, startedAt: undefined, endedAt: now(context) });
}

function close(context: Context, run: RunRecord, error: string): Promise<RunRecord> {
  context.enqueue(run);
  return finish(context, { run, status: "cancelled", error });
}

function finish(
  context: Context,
  { run, status, error }: { run: RunRecord; status: RunRecord["status"]; error: string },
): Promise<RunRecord> {
  return save(context, endedWithout(run, { status, error, now: now(context) }));
}

async function save(context: Context, run: RunRecord): Promise<RunRecord> {
  await context.store.write((tx) => (isUnfinished(run) ? moveRun(tx, run) : endRun(tx, run, now(context))));
  return run;
}

function now(context: Context): number {
  return context.clock.now();
}
