import { Failure } from "../api/failure.ts";
import type { ManifestKey, StoredManifest } from "../api/manifest.ts";
import { envFromTarget } from "../core/env-from.ts";
import type { ResolveProblem } from "../core/resolve-assets.ts";
import { resolveWorkload } from "../core/resolve.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import type { Context } from "./context.ts";
import { isPodKind } from "./target.ts";

/** A stored deployment or statefulset with its config and assets filled in, ready to be planned and made. */
export function resolveStored(
  context: Context,
  manifest: StoredManifest,
): { workload: ResolvedWorkload; problems: ResolveProblem[] } {
  const { store } = context;
  return resolveWorkload({
    manifest,
    config: store.config.merged(manifest.scope, manifest.name),
    envFrom: envSources(manifest).map(({ scope, name }) => store.config.merged(scope, name)),
    assetPath: (digest) => context.assets.path(digest),
    names: context.names,
  });
}

const defaultStopGraceMs = 10_000;

/** How long a pod of the resource has to end by itself: as its spec says, or Docker's own default. */
export function stopGraceMs(context: Context, key: ManifestKey): number {
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined || !isPodKind(manifest.kind)) return defaultStopGraceMs;
  return resolveStored(context, manifest).workload.container.stopGraceMs;
}

function envSources({ scope, spec }: StoredManifest): { scope: string; name: string }[] {
  if (!Array.isArray(spec.env_from)) return [];
  return spec.env_from.flatMap((entry) => envFromTarget(String(entry), scope) ?? []);
}

/** The first of the problems as an error: retried, as what is missing may yet come. */
export function refuseUnresolved(problems: readonly ResolveProblem[]): void {
  for (const { path, message, reason } of problems) throw new Failure("unavailable", `${path}: ${message}`, { reason });
}
