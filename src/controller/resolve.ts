import { Failure } from "../api/failure.ts";
import type { ManifestKey, StoredManifest } from "../api/manifest.ts";
import { envSources } from "../core/dependencies.ts";
import type { ResolveProblem } from "../core/resolve-assets.ts";
import { isJobKind, type ResolvedJob, resolveJob } from "../core/resolve-job.ts";
import { resolveWorkload } from "../core/resolve.ts";
import type { ResolveInput } from "../core/resolve-input.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import type { Context } from "./context.ts";
import { isPodKind } from "./target.ts";

/** A stored deployment or statefulset with its config and assets filled in, ready to be planned and made. */
export function resolveStored(
  context: Context,
  manifest: StoredManifest,
): { workload: ResolvedWorkload; problems: ResolveProblem[] } {
  return resolveWorkload(inputOf(context, manifest));
}

/** A stored job or cron job with its config and assets filled in, ready to be run. */
export function resolveStoredJob(
  context: Context,
  manifest: StoredManifest,
): { job: ResolvedJob; problems: ResolveProblem[] } {
  return resolveJob(inputOf(context, manifest));
}

function inputOf(context: Context, manifest: StoredManifest): ResolveInput {
  const { store } = context;
  return {
    manifest,
    config: store.config.merged(manifest.scope, manifest.name),
    envFrom: envSources(manifest).map(({ scope, name }) => store.config.merged(scope, name)),
    assetPath: (digest) => context.assets.path(digest),
    names: context.names,
  };
}

const defaultStopGraceMs = 10_000;

/** How long a container of the resource has to end by itself: as its spec says, or Docker's own default. */
export function stopGraceMs(context: Context, key: ManifestKey): number {
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) return defaultStopGraceMs;
  if (isJobKind(manifest.kind)) return resolveStoredJob(context, manifest).job.container.stopGraceMs;
  if (!isPodKind(manifest.kind)) return defaultStopGraceMs;
  return resolveStored(context, manifest).workload.container.stopGraceMs;
}

/** The first of the problems as an error: retried, as what is missing may yet come. */
export function refuseUnresolved(problems: readonly ResolveProblem[]): void {
  for (const { path, message, reason } of problems) throw new Failure("unavailable", `${path}: ${message}`, { reason });
}
