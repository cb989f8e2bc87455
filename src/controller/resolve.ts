import { Failure } from "../api/failure.ts";
import type { StoredManifest } from "../api/manifest.ts";
import { envFromTarget } from "../core/env-from.ts";
import type { ResolveProblem } from "../core/resolve-assets.ts";
import { resolveWorkload } from "../core/resolve.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import type { Context } from "./context.ts";

/** A stored deployment or statefulset with its config and assets filled in, ready to be planned and made. */
export function resolveStored(
  context: Context,
  manifest: StoredManifest,
): { workload: ResolvedWorkload; problems: ResolveProblem[] } {
  const { store } = context;
  const { workload, problems } = resolveWorkload({
    manifest,
    config: store.config.merged(manifest.scope, manifest.name),
    envFrom: envSources(manifest).map(({ scope, name }) => store.config.merged(scope, name)),
    assetPath: (digest) => context.assets.path(digest),
    names: context.names,
  });
  return { workload: { ...workload, replicas: scaledReplicas(context, manifest) ?? workload.replicas }, problems };
}

/** What the autoscaler decided, within the bounds that the spec has now; undefined when it has no say. */
function scaledReplicas(context: Context, manifest: StoredManifest): number | undefined {
  const { autoscale } = manifest.spec;
  if (typeof autoscale !== "object" || autoscale === null) return undefined;
  const { min, max } = autoscale as { min?: unknown; max?: unknown };
  const decided = context.store.autoscale.get(manifest)?.replicas;
  if (decided === undefined || typeof min !== "number" || typeof max !== "number") return undefined;
  return Math.min(max, Math.max(min, decided));
}

function envSources({ scope, spec }: StoredManifest): { scope: string; name: string }[] {
  if (!Array.isArray(spec.env_from)) return [];
  return spec.env_from.flatMap((entry) => envFromTarget(String(entry), scope) ?? []);
}

/** The first of the problems as an error: retried, as what is missing may yet come. */
export function refuseUnresolved(problems: readonly ResolveProblem[]): void {
  for (const { path, message, reason } of problems) throw new Failure("unavailable", `${path}: ${message}`, { reason });
}
