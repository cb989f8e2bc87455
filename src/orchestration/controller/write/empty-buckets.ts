import type { StoredManifest } from "../../api/manifest.ts";
import { envSources } from "../../core/dependencies.ts";
import type { Context } from "../state/context.ts";

/** Warnings for `env_from` of a name that nothing is stored under: it starts without those variables, a slip perhaps. */
export function emptyBuckets({ store }: Pick<Context, "store">, manifest: StoredManifest): string[] {
  return envSources(manifest)
    .filter(({ scope, name }) => {
      const there = store.manifests.list({ scope, name }).length + store.blocks.list({ scope, name }).length;
      return there === 0 && Object.keys(store.config.bucket(scope, name)).length === 0;
    })
    .map(
      ({ scope, name }) => `env_from: nothing is called ${scope}/${name}, and it has no config: it gives no variables`,
    );
}
