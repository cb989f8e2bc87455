import { isoTime } from "../../../base/pure/iso-time.ts";
import type { StoredManifest } from "../../api/manifest.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import { cronWindows } from "../../core/plan/cron-windows.ts";
import { nextInstant } from "../../core/plan/cron.ts";
import type { RunRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { putStatus } from "../rollout/save-status.ts";
import { refuseUnresolved, resolveStoredJob } from "../desired/resolve.ts";
import { removeLeftovers } from "./run-leftovers.ts";
import { isUnfinished, wireRun } from "./run-record.ts";

/** A round over a job or cron job: what is not needed goes, and the status says whether it can be run. */
export async function convergeJob(context: Context, manifest: StoredManifest): Promise<void> {
  if (context.link.up()) {
    if (!context.pods.isFresh(manifest)) await context.pods.refresh(manifest);
    await removeLeftovers(context, manifest);
  }
  const { job, problems } = resolveStoredJob(context, manifest);
  refuseUnresolved(problems);
  const { last_reconcile_error: _, ...known } = context.notes.status(manifest) ?? {};
  const { revision: observed_revision } = manifest;
  await putStatus(context, manifest, { ...known, phase: "ready", image: job.image, observed_revision });
}

/** The stored status with what is read from the runs at the time of the question, so that it is never out of date. */
export function withRuns(
  context: Context,
  manifest: StoredManifest,
  stored: Record<string, unknown> | null,
): Record<string, unknown> {
  const runs = context.store.runs.list(manifest);
  const last = runs.find(({ status }) => status !== "missed" && status !== "skipped");
  return {
    ...stored,
    ...(manifest.kind === "cronjob" ? cadence(context, manifest) : {}),
    running: runs.filter(isUnfinished).length,
    ...(last === undefined ? {} : { last_run: lastTime(last) }),
    history: runs.map((run) => withoutTail(run)),
  };
}

function cadence(context: Context, manifest: StoredManifest): Record<string, unknown> {
  const schedule = decodeSpec("cronjob", manifest.spec);
  const next = schedule.suspended ? undefined : nextInstant({ ...schedule, after: lookFrom(context, manifest) });
  return {
    schedule: schedule.expression,
    timezone: schedule.timezone,
    suspended: schedule.suspended,
    ...(next === undefined ? {} : { next_run: isoTime(next) }),
  };
}

function lookFrom(context: Context, manifest: StoredManifest): number {
  const { store, clock } = context;
  const view = { schedule: decodeSpec("cronjob", manifest.spec), updatedAt: manifest.updatedAt, seen: undefined };
  return cronWindows({ ...view, lastInstant: store.runs.lastInstant(manifest), now: clock.now() }).nextAfter;
}

function lastTime({ endedAt, startedAt }: RunRecord): string | undefined {
  const at = endedAt ?? startedAt;
  return at === undefined ? undefined : isoTime(at);
}

/** Output stays with `GET /jobs/runs`. */
function withoutTail(run: RunRecord): Record<string, unknown> {
  const { tail: _, ...rest } = wireRun(run);
  return rest;
}
