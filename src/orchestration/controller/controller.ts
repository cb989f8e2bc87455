import type { ApplyResult, deleteManifest, ListedManifest } from "../api/apply.ts";
import type { setConfig } from "../api/config.ts";
import type { AtomicApply } from "../api/atomic.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import type { DispatchResult, PluginRun } from "../api/dispatch.ts";
import type { FileInfo } from "../api/files.ts";
import type { ExecResult } from "../api/exec.ts";
import type { describe } from "../api/describe.ts";
import type { listEvents } from "../api/events.ts";
import type { system } from "../api/health.ts";
import type { DiskUse, Pruned, PrunePlan } from "../api/disk.ts";
import type { listLeftovers } from "../api/leftovers.ts";
import type { JobRun } from "../api/jobs.ts";
import type { listDeliveries } from "../api/webhooks.ts";
import type { getPod, listPods, Readiness } from "../api/pods.ts";
import type { deleteResource, deleteScope } from "../api/resource.ts";
import type { getPluginSchema, InstallOutcome, listPlugins, PluginInfo, removePlugin } from "../api/plugins.ts";
import type { BuildOperations } from "./builds/builds.ts";
import type { listLocks, Lock } from "../api/locks.ts";
import type { listPreviews, Preview } from "../api/previews.ts";
import type { listReleases, rollback } from "../api/releases.ts";
import type { Author } from "../core/deploy-message.ts";
import type { Rollout } from "../api/rollouts.ts";
import type { CanaryCommand } from "../core/plan/canary.ts";
import type { getOperation, restart } from "../api/restart.ts";
import type { scale } from "../api/scale.ts";
import type { wake } from "../api/wake.ts";
import type { listUses } from "../api/uses.ts";
import type { why } from "../api/why.ts";
import type { listStats } from "../api/stats.ts";
import type { ReleaseStream } from "./rollout/transcript.ts";
import type { ExecSession, ExecSpec, LogOptions } from "../engine/session.ts";
import type { OfferedFile } from "../plugins/offers.ts";

/** Who asks for a rollback and why; a dry run answers where it goes and what changes back, and stores nothing. */
export interface RollbackOptions extends Author {
  dryRun?: boolean;
}

/** An identity as a caller wrote it: kind in any spelling, scope perhaps left out. */
export interface Target {
  kind?: string | undefined;
  scope?: string | undefined;
  name?: string | undefined;
}

export interface ListOptions {
  /** Where no kind is asked for: plugins' blocks too. Without them the list is what can be applied again. */
  blocks: boolean;
  status: boolean;
}

/** What a caller of exec says beside the command. */
export type ExecOptions = Pick<ExecSpec, "tty" | "interactive" | "workdir" | "user" | "size"> & { actor: string };

/** A command that runs in a pod. Whoever was given it reads the output to its end and asks for the exit code, or kills it. */
export type RunningExec = ExecSession;

/** A command in a container of its own; `container` is its name. */
export type AppRun = RunningExec & { container: string };

/** Who waits for a command. */
export interface PluginCaller {
  actor: string;
  /** Aborts when the caller has left. */
  signal?: AbortSignal | undefined;
  /** Told what the plugin says while it works. */
  onLine?: ((line: string) => void) | undefined;
}

export interface DispatchOptions extends PluginCaller {
  /** Let config actions restart who reads them. */
  restart: boolean;
  /** Where a pod asks: what it may name to its plugin, and the run may look at, of the plugin's blocks. */
  only?: readonly { scope: string; name: string }[] | undefined;
}

export interface DispatchRequest {
  /** Name or alias. */
  plugin: string;
  command: string;
  /** `{args}`, or undefined for none. */
  body: unknown;
}

/** What POST /plugins/exec passes on: the plugin's own envelope, or its text. */
export interface ExecAnswer {
  status: number;
  body: unknown;
}

/**
 * Every operation of the orchestration plane, one method per endpoint; the HTTP floor only translates. Expected
 * errors are `Failure`s. `actor` is free text for the event log.
 */
export interface Controller extends BuildOperations {
  system(): Promise<DataOf<typeof system>>;
  apply(
    body: unknown,
    options: { dryRun: boolean; prune: boolean; force?: boolean; takeOver?: boolean; confined?: boolean } & Author,
  ): Promise<ApplyResult>;
  listManifests(filter: Target, options?: ListOptions): ListedManifest[];
  /** A block goes with what it was expanded into, unless that is kept. */
  deleteManifest(
    target: Target,
    options: { prune: boolean; keepChildren?: boolean; actor: string },
  ): Promise<DataOf<typeof deleteManifest>>;
  deleteResource(
    target: { scope: string | undefined; name: string | undefined; ordinal: string | undefined },
    options: { prune: boolean; actor: string },
  ): Promise<DataOf<typeof deleteResource>>;
  deleteScope(
    scope: string | undefined,
    options: { prune: boolean; actor: string },
  ): Promise<DataOf<typeof deleteScope>>;
  /** Who names hosts of resources; both filters are optional. */
  listUses(filter: Target): DataOf<typeof listUses>;
  /** What fills the disk. */
  disk(options: { wait: boolean }): Promise<DiskUse>;
  planPrune(): Promise<PrunePlan>;
  prune(options: { actor: string }): Promise<Pruned>;
  /** What deletes without prune left behind; those with prune remove it, by name and by scope. */
  listLeftovers(filter: Target): Promise<DataOf<typeof listLeftovers>>;
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
  /**
   * Connects to a port of a pod: input goes there, output comes from there, with an empty part where the pod has
   * finished. Fails as `execPod`, `conflict` where nothing listens, `too_many`.
   */
  forwardPort(name: string, options: { port: string | undefined; actor: string }): Promise<RunningExec>;
  /** The three on files fail `invalid` for a bad path, `not_found` for a missing container or path. */
  statFile(place: { name: string; path: string | undefined }): Promise<FileInfo>;
  /** A tar archive. Fails `too_many`. */
  readFiles(
    place: { name: string; path: string | undefined },
    options: { actor: string; signal: AbortSignal },
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Input is a tar archive; the exit code comes when all of it is there. Fails `conflict` for what is not a folder, `too_many`. */
  writeFiles(place: { name: string; path: string | undefined }, options: { actor: string }): Promise<RunningExec>;
  /**
   * Runs a command in a container of its own, made as those of the app, and removes it with the end of the session.
   * Fails as `execPod`, `not_found` for an unknown app, `too_many` when too many run at once.
   */
  runApp(target: Target & { ordinal?: string | undefined }, body: unknown, options: ExecOptions): Promise<AppRun>;
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
    options: { restart: boolean; actor: string; dryRun?: boolean },
  ): Promise<DataOf<typeof setConfig>>;
  unsetConfig(
    target: { scope: string | undefined; name: string | undefined; key: string | undefined },
    options: { restart: boolean; actor: string; dryRun?: boolean },
  ): Promise<DataOf<typeof setConfig>>;
  /** With `wait: false` the answer carries `operation` and is sent as 202. */
  restart(target: Target, options: { wait: boolean; pull?: boolean; actor: string }): Promise<DataOf<typeof restart>>;
  /** The stream of a release's output; it goes on whether or not anybody reads. */
  runRelease(target: Target, options: { follow: boolean } & Author): Promise<ReleaseStream>;
  rollback(
    target: Target & { releaseId: string | undefined },
    options: RollbackOptions,
  ): Promise<DataOf<typeof rollback>>;
  listReleases(target: Target): DataOf<typeof listReleases>;
  /** Fails `conflict`/`Locked` where it is locked already. */
  lock(
    target: {
      scope?: string | undefined;
      name?: string | undefined;
      reason?: string | undefined;
      for?: string | undefined;
    },
    options: { actor: string },
  ): Promise<Lock>;
  /** Fails `not_found` where it is not locked. */
  unlock(target: { scope?: string | undefined; name?: string | undefined }, options: { actor: string }): Promise<Lock>;
  listLocks(filter: { scope?: string | undefined }): DataOf<typeof listLocks>;
  /** Fails `conflict` where the scope holds something else, `too_many` beyond the limit. */
  putPreview(
    target: {
      of?: string | undefined;
      branch?: string | undefined;
      host?: string | undefined;
      for?: string | undefined;
    },
    options: { actor: string },
  ): Promise<Preview>;
  listPreviews(filter: { of?: string | undefined }): DataOf<typeof listPreviews>;
  /** Fails `not_found` where the branch has none. */
  deletePreview(
    target: { of?: string | undefined; branch?: string | undefined },
    options: { actor: string },
  ): Promise<Preview>;
  rollout(target: Target): Rollout;
  /** Fails `conflict` where there is nothing to pause, resume, promote or abort. */
  tellRollout(target: Target, command: CanaryCommand | "abort", options: { actor: string }): Promise<Rollout>;
  scale(target: Target & { replicas: string | undefined }, options: { actor: string }): Promise<DataOf<typeof scale>>;
  /** Fails `not_found`. */
  wake(target: Target, options: { actor: string }): Promise<DataOf<typeof wake>>;
  /** What is known about the last death and the last failed rollout, also of a resource that is gone. */
  why(target: Target): Promise<DataOf<typeof why>>;
  operation(id: string): DataOf<typeof getOperation>;
  atomicApply(id: string): AtomicApply;
  /** With `wait` the record at the end of the run, whatever its exit code; it goes on when nobody waits any more. */
  runJob(target: Target & { kind: "job" | "cronjob" }, options: { wait: boolean; actor: string }): Promise<JobRun>;
  listRuns(filter: Target, options: { limit: number }): { runs: JobRun[] };
  getRun(id: string): JobRun;
  /** The record at the end of the run. `conflict` when it has ended already. */
  cancelRun(id: string, options: { actor: string }): Promise<JobRun>;
  /** Webhook calls of a resource, newest first, headers masked. */
  deliveries(target: Target & { limit: number }): DataOf<typeof listDeliveries>;
  /** Also notices what was dropped into the folder by hand. */
  listPlugins(): Promise<DataOf<typeof listPlugins>>;
  /** The five that follow fail `not_found` for an unknown plugin. */
  getPlugin(name: string): Promise<PluginInfo>;
  /** Fails `not_found` also where the plugin has no schema for the kind. */
  pluginSchema(target: { name: string; kind: string | undefined }): Promise<DataOf<typeof getPluginSchema>>;
  /**
   * `body` may be undefined. Fails `conflict` for a package that is not what was expected, `forbidden` for one that wants
   * more than is granted. Also what would come in, where the body asks for a preview.
   */
  updatePlugin(
    target: { name: string; version: string | undefined; body: unknown },
    caller: PluginCaller,
  ): Promise<InstallOutcome>;
  rollbackPlugin(name: string, options: { actor: string }): Promise<PluginInfo>;
  setPluginEnabled(target: { name: string; enabled: boolean }, options: { actor: string }): Promise<PluginInfo>;
  /**
   * `invalid` for every fault of the source or the package, `conflict` for one that is not what was expected; what
   * worked before goes on working. Also what would come in, where the body asks for a preview.
   */
  installPlugin(body: unknown, caller: PluginCaller): Promise<InstallOutcome>;
  removePlugin(name: string, options: { actor: string }): Promise<DataOf<typeof removePlugin>>;
  /** Runs a command and carries its actions out, all or none. `invalid` for an unknown plugin or command. */
  dispatchPlugin(request: DispatchRequest, options: DispatchOptions): Promise<DispatchResult>;
  /** Runs a command and passes on what it prints. */
  execPlugin(body: unknown, caller: PluginCaller): Promise<ExecAnswer>;
  /** A file that a run told its caller to fetch. `not_found` for any other. */
  pluginFile(runId: string, index: string): Promise<OfferedFile>;
  listPluginRuns(filter: { plugin: string | undefined; limit: number }): Promise<{ runs: PluginRun[] }>;
  events(filter: Target & { after?: number; limit: number }): DataOf<typeof listEvents>;
}
