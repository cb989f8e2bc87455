import type { Problem } from "../api/failure.ts";
import type { StoredManifest } from "../api/manifest.ts";
import { resolveWorkload } from "../core/resolve.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import type { Context } from "./context.ts";

/** A stored deployment or statefulset with its config and assets filled in, ready to be planned and made. */
export function resolveStored(
  context: Context,
  manifest: StoredManifest,
): { workload: ResolvedWorkload; problems: Problem[] } {
  const { store } = context;
  return resolveWorkload({
    manifest,
    config: store.config.merged(manifest.scope, manifest.name),
    envFrom: envSources(manifest).map(({ scope, name }) => store.config.merged(scope, name)),
    assetPath: (digest) => context.assets.path(digest),
    names: context.names,
  });
}

/** `env_from` entries: `scope/name`, or `name` in the manifest's own scope. */
function envSources(manifest: StoredManifest): { scope: string; name: string }[] {
  const list = manifest.spec.env_from;
  if (!Array.isArray(list)) return [];
  return list.map((entry) => {
    const [first = "", second] = String(entry).split("/");
    return second === undefined ? { scope: manifest.scope, name: first } : { scope: first, name: second };
  });
}
