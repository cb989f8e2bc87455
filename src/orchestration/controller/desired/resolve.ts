import { problemFailure } from "../../../base/wire/failure.ts";
import { formatKey, type StoredManifest } from "../../api/manifest.ts";
import { envSources } from "../../core/dependencies.ts";
import type { ResolveProblem } from "../../core/resolve-placeholders.ts";
import { type ResolvedJob, resolveJob } from "../../core/resolve-job.ts";
import { resolveWorkload } from "../../core/resolve.ts";
import type { Origin, ResolveInput } from "../../core/resolve-input.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { FindReferenced } from "../../core/references.ts";
import type { Context } from "../state/context.ts";
import { podOf } from "../../core/spec/decode.ts";
import { storedReferenced } from "./references.ts";
import { isAsleep } from "../state/sleep-changes.ts";

/**
 * A stored deployment or statefulset with its config and assets filled in, ready to be planned and made; `findReferenced`
 * where an apply is only being tried.
 */
export function resolveStored(
  context: Context,
  manifest: StoredManifest,
  findReferenced?: FindReferenced,
): { workload: ResolvedWorkload; problems: ResolveProblem[] } {
  const { workload, problems } = resolveWorkload(inputOf(context, manifest, findReferenced));
  return { workload: { ...workload, replicas: replicasNow(context, manifest, workload.replicas) }, problems };
}

/** How many are to run now, given what is written. */
export function replicasNow(context: Context, manifest: StoredManifest, written: number): number {
  return isAsleep(context, manifest) ? 0 : replicasAwake(context, manifest, written);
}

/** Like `replicasNow`, for what is not asleep, or is being started. */
export function replicasAwake(context: Context, manifest: StoredManifest, written: number): number {
  const wanted = scaledReplicas(context, manifest) ?? written;
  // A request that wakes it must find one.
  return podOf(manifest)?.sleep === undefined ? wanted : Math.max(1, wanted);
}

/** What the autoscaler decided, within the bounds that the spec has now; undefined when it has no say. */
function scaledReplicas(context: Context, manifest: StoredManifest): number | undefined {
  const policy = podOf(manifest)?.autoscale;
  if (policy === undefined) return undefined;
  const decided = context.store.autoscale.get(manifest)?.replicas;
  return decided === undefined ? undefined : Math.min(policy.max, Math.max(policy.min, decided));
}

/** A stored job or cron job with its config and assets filled in, ready to be run. */
export function resolveStoredJob(
  context: Context,
  manifest: StoredManifest,
): { job: ResolvedJob; problems: ResolveProblem[] } {
  return resolveJob(inputOf(context, manifest));
}

function inputOf(
  context: Context,
  manifest: StoredManifest,
  findReferenced: FindReferenced = (target) => storedReferenced(context.store, target),
): ResolveInput {
  const { store } = context;
  return {
    manifest,
    config: store.config.merged(manifest.scope, manifest.name),
    envFrom: envSources(manifest).map(({ scope, name }) => store.config.merged(scope, name)),
    assetPath: (digest) => context.assets.path(digest),
    isPlainVolume: (owner, name) => store.namedVolumes.isPlain(owner, name),
    findReferenced,
    names: context.names,
    telemetry: context.telemetry && { url: context.telemetry.url() },
    origin: originOf(context, manifest),
  };
}

function originOf({ store, plugins }: Context, manifest: StoredManifest): Origin | undefined {
  const owner = store.blocks.ownerOf(manifest);
  const block = owner && store.blocks.get(owner);
  if (block === undefined) return undefined;
  const plugin = block.version === "" ? block.plugin : `${block.plugin}@${block.version}`;
  return { block: formatKey(block), plugin, controllerUrl: plugins.callbacks.url() };
}

/** The first of the problems as an error: retried, as what is missing may yet come. */
export function refuseUnresolved(problems: readonly ResolveProblem[]): void {
  for (const problem of problems) throw problemFailure("unavailable", problem, { reason: problem.reason });
}
