import type { ApplyResult, PruneSummary } from "../api/orchestration/apply.ts";
import type { DataOf } from "../api/endpoint.ts";
import type { ExecResult } from "../api/orchestration/exec.ts";
import type { describe } from "../api/orchestration/describe.ts";
import type { listEvents } from "../api/orchestration/events.ts";
import type { system } from "../api/orchestration/health.ts";
import type { JobRun } from "../api/orchestration/jobs.ts";
import type { listDeliveries } from "../api/orchestration/hooks.ts";
import type { getPod, listPods, Readiness } from "../api/orchestration/pods.ts";
import type { deleteResource, deleteScope } from "../api/orchestration/resource.ts";
import type { listReleases, rollback } from "../api/orchestration/releases.ts";
import type { getOperation, restart } from "../api/orchestration/restart.ts";
import type { scale } from "../api/orchestration/scale.ts";
import type { why } from "../api/orchestration/why.ts";
import type { listStats } from "../api/orchestration/stats.ts";
import type { Manifest } from "../api/manifest.ts";
import type { ReleaseStream } from "./transcript.ts";
import type { ExecSession, ExecSpec, LogOptions } from "../runtime/runtime.ts";

/** An identity as a caller wrote it: kind in any spelling, scope perhaps left out. */
export interface Target {
  kind?: string | undefined;
  scope?: string | undefined;
  name?: string | undefined;
}

/** What a caller of exec says beside the command. */
export type ExecOptions = Pick<ExecSpec, "tty" | "interactive" | "workdir" | "user" | "size"> & { actor: string };

/** A command that runs in a pod. Whoever was given it reads the output to its end and asks for the exit code, or kills it. */
export type RunningExec = ExecSession;

/**
 * Every operation of the orchestration plane, one method per endpoint; the HTTP floor only translates. Expected
 * errors are `Failure`s. `actor` is free text for the event log.
 */
export interface Controller {
  system(): Promise<DataOf<typeof system>>;
  apply(
    body: unknown,
    options: { dryRun: boolean; prune: boolean; force?: boolean; actor: string },
  ): Promise<ApplyResult>;
  listManifests(filter: Target): Manifest[];
  deleteManifest(target: Target, options: { prune: boolean; actor: string }): Promise<{ pruned: PruneSummary }>;
  deleteResource(
    target: { scope: string | undefined; name: string | undefined; ordinal: string | undefined },
    options: { prune: boolean; actor: string },
  ): Promise<DataOf<typeof deleteResource>>;
  deleteScope(
    scope: string | undefined,
    options: { prune: boolean; actor: string },
  ): Promise<DataOf<typeof deleteScope>>;
  describe(target: Target): Promise<DataOf<typeof describe>>;
  listPods(filter: Target, options: { detail: boolean; spec: boolean }): Promise<DataOf<typeof listPods>>;
  getPod(name: string, options: { spec: boolean }): Promise<DataOf<typeof getPod>>;
  /** `not_found` for an unknown pod; whether it is ready decides 200 or 503. Memory only. */
  podReady(name: string): Readiness;
  stopPod(name: string, options: { freeze: boolean; actor: string }): Promise<{ name: string; freeze: boolean }>;
  startPod(name: string, options: { actor: string }): Promise<{ name: string; recreated: boolean; unfroze: boolean }>;
  /**
   * Starts a command. Fails `invalid` for a bad name or body, `not_found` for a missing container, `conflict` for one
   * that does not run, or a user, folder or program that it does not have, `unavailable` without the engine.
   */
  execPod(name: string, body: unknown, options: ExecOptions): Promise<RunningExec>;
  execResult(name: string, id: string): ExecResult;
  /** Bytes as the pod wrote them; ends with the container, the log, or `signal`. Nothing is read ahead. */
  podLogs(name: string, options: LogOptions & { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  stats(filter: Target, options: { orphans: boolean; live: boolean }): Promise<DataOf<typeof listStats>>;
  getConfig(query: {
    scope: string | undefined;
    name: string | undefined;
    key: string | undefined;
    merge: boolean;
  }): Record<string, unknown>;
  setConfig(
    target: { scope: string | undefined; name: string | undefined },
    vars: unknown,
    options: { restart: boolean; actor: string },
  ): Promise<{ changed: string[]; restarting: string[] }>;
  unsetConfig(
    target: { scope: string | undefined; name: string | undefined; key: string | undefined },
    options: { restart: boolean; actor: string },
  ): Promise<{ changed: string[]; restarting: string[] }>;
  /** With `wait: false` the answer carries `operation` and is sent as 202. */
  restart(target: Target, options: { wait: boolean; pull?: boolean; actor: string }): Promise<DataOf<typeof restart>>;
  /** The stream of a release's output; it goes on whether or not anybody reads. */
  runRelease(target: Target, options: { follow: boolean; actor: string }): Promise<ReleaseStream>;
  rollback(
    target: Target & { releaseId: string | undefined },
    options: { actor: string },
  ): Promise<DataOf<typeof rollback>>;
  listReleases(target: Target): DataOf<typeof listReleases>;
  scale(target: Target & { replicas: string | undefined }, options: { actor: string }): Promise<DataOf<typeof scale>>;
  /** What is known about the last death and the last failed rollout, also of a resource that is gone. */
  why(target: Target): Promise<DataOf<typeof why>>;
  operation(id: string): DataOf<typeof getOperation>;
  /** With `wait` the record at the end of the run, whatever its exit code; it goes on when nobody waits any more. */
  runJob(target: Target & { kind: "job" | "cronjob" }, options: { wait: boolean; actor: string }): Promise<JobRun>;
  listRuns(filter: Target, options: { limit: number }): { runs: JobRun[] };
  getRun(id: string): JobRun;
  /** The record at the end of the run. `conflict` when it has ended already. */
  cancelRun(id: string, options: { actor: string }): Promise<JobRun>;
  /** Webhook calls of a resource, newest first, headers masked. */
  deliveries(target: Target & { limit: number }): DataOf<typeof listDeliveries>;
  events(filter: Target & { after?: number; limit: number }): DataOf<typeof listEvents>;
}
