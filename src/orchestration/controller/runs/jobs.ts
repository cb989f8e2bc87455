import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { JobRun } from "../../api/jobs.ts";
import { isJobKind, type JobKind } from "../../core/resolve-job.ts";
import { jobOf } from "../../core/spec/decode.ts";
import type { RunRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { endedWithout } from "./run-outcome.ts";
import { endRun, isUnfinished, newRun, wireRun } from "./run-record.ts";
import { notStored, resolveTarget, targetKind } from "../state/target.ts";

interface RunOptions {
  /** Answer when it has ended. */
  wait: boolean;
  actor: string;
  trigger?: RunRecord["trigger"];
}

/**
 * POST /jobs/run and /cronjobs/run: writes the row of a run and starts it. Nothing that the caller does later stops it.
 * Fails `conflict` where the resource does not allow a run now.
 */
export async function runJob(
  context: Context,
  target: Target & { kind: JobKind },
  { wait, actor, trigger = "manual" }: RunOptions,
): Promise<JobRun> {
  const key = resolveTarget(context.store.manifests, target);
  context.link.require();
  context.gate.mustBeOpen("jobs do not run");
  const { run, replaced } = await context.store.write((tx) => admit(context, tx, { key, actor, trigger }));
  context.jobs.begin(run, cancelReplaced(context, replaced, run));
  if (!wait) return wireRun(run);
  const over = new AbortController();
  const ended = await Promise.race([context.jobs.ended(run.id), engineAway(context, run, over.signal)]).finally(() =>
    over.abort(),
  );
  if (ended !== undefined) return wireRun(ended);
  throw new Failure("unavailable", `the server stops; run "${run.id}" goes on, ask for it again in a moment`, {
    retryAfterSeconds: 2,
  });
}

const lookMs = 1_000;
/** A restart of the engine is shorter. */
const awayMs = 10_000;

/** Fails once the engine is away for long; the caller may ask for the run again. Goes on for ever when `signal` aborts. */
async function engineAway({ link, clock }: Context, { id }: RunRecord, signal: AbortSignal): Promise<never> {
  for (let away = 0; away < awayMs; away = link.up() ? 0 : away + lookMs) {
    await clock.sleep(lookMs, signal);
    if (signal.aborted) return new Promise(() => undefined);
  }
  const message = `run "${id}" is recorded and goes on when the engine is back, ask for it again then; the container engine cannot be reached: ${link.error() ?? "unknown error"}`;
  throw new Failure("unavailable", message, { reason: "EngineUnavailable", retryAfterSeconds: 2 });
}

interface Admission {
  key: ManifestKey;
  actor: string;
  trigger: RunRecord["trigger"];
}

/** Decides inside a transaction whether a run asked for by hand may start, and writes its row. */
function admit(context: Context, tx: Transaction, { key, actor, trigger }: Admission) {
  const manifest = tx.manifests.get(key);
  if (manifest === undefined) throw new Failure("not_found", `${formatKey(key)} was deleted`);
  const policy = jobOf(manifest)?.policy;
  const others = tx.runs.unfinishedOf(key);
  const ids = others.map(({ id }) => id).join(", ");
  if (others.length > 0 && policy === "Forbid") {
    throw new Failure(
      "conflict",
      `${formatKey(key)} is running (run ${ids}) and its concurrency_policy is Forbid; nothing was run`,
    );
  }
  const most = context.limits.runsAtOnceMax;
  if (others.length >= most) {
    throw new Failure("conflict", `${formatKey(key)} has ${others.length} runs under way; at most ${most} are allowed`);
  }
  const run = newRun(context, key, { trigger, instant: undefined });
  const replaced = policy === "Replace" ? replace(context, tx, { others, by: run }) : [];
  tx.runs.put(run);
  const detail = { run_id: run.id, trigger };
  tx.events.append({ actor, action: "run.start", ...key, detail }, context.clock.now());
  return { run, replaced };
}

/** Ends the records of runs that another takes the place of; their containers go with `cancelReplaced`. */
export function replace(
  context: Context,
  tx: Transaction,
  { others, by }: { others: RunRecord[]; by: RunRecord },
): RunRecord[] {
  const now = context.clock.now();
  return others.filter((run) => {
    const ended = endedWithout(run, { status: "cancelled", error: `replaced by run ${by.id}`, now });
    return endRun(tx, ended, now);
  });
}

/** Resolves when the containers of replaced runs are gone. */
export function cancelReplaced(context: Context, replaced: RunRecord[], by: RunRecord): Promise<unknown> {
  return Promise.all(replaced.map(({ id }) => context.jobs.cancel(id, `replaced by run ${by.id}`)));
}

/** GET /jobs/runs. */
export function listRuns(context: Context, filter: Target, { limit }: { limit: number }): { runs: JobRun[] } {
  const { manifests, runs } = context.store;
  const scope = filter.scope ? { scope: filter.scope } : {};
  const name = filter.name ? { name: filter.name } : {};
  const kinds = filter.kind ? [jobKindOf(filter.kind)] : (["job", "cronjob"] as const);
  const keys = kinds.flatMap((kind) => manifests.list({ kind, ...scope, ...name }));
  if (filter.name && keys.length === 0) {
    throw notStored(manifests, kinds, { scope: filter.scope, name: filter.name });
  }
  const found = keys.flatMap((key) => runs.list(key, limit));
  // The runs of one resource come in the order in which they were written, whatever the clock did.
  if (keys.length > 1) found.sort((a, b) => timeOf(b) - timeOf(a));
  return { runs: found.slice(0, limit).map(wireRun) };
}

function timeOf({ startedAt, endedAt, instant }: RunRecord): number {
  return startedAt ?? instant ?? endedAt ?? 0;
}

function jobKindOf(text: string): JobKind {
  const kind = targetKind(text);
  if (!isJobKind(kind)) throw new Failure("invalid", `kind "${text}" has no runs; use job or cronjob`);
  return kind;
}

/** GET /jobs/runs/{id}. */
export function getRun(context: Context, id: string): JobRun {
  return wireRun(knownRun(context, id));
}

function knownRun(context: Context, id: string): RunRecord {
  const run = context.store.runs.get(id) ?? context.jobs.remembered(id);
  if (run === undefined) throw new Failure("not_found", `no run "${id}"; it may have left the history`);
  return run;
}

/** POST /jobs/runs/{id}/cancel. */
export async function cancelRun(context: Context, id: string, { actor }: { actor: string }): Promise<JobRun> {
  const run = knownRun(context, id);
  if (!isUnfinished(run)) throw new Failure("conflict", `run "${id}" has ended already: ${run.status}`);
  const ended = await context.jobs.cancel(id, `cancelled by ${actor}`);
  if (ended !== undefined) return wireRun(ended);
  throw new Failure("unavailable", `run "${id}" is not in the hands of this server just now; try again`, {
    retryAfterSeconds: 2,
  });
}
