import type { Context } from "../state/context.ts";
import { isoTime } from "../state/wire.ts";

/** GET /system: what `/health` may not say. */
export async function system(context: Context, queued: number) {
  const { engine, store, about, names, layout } = context;
  const info = engine.info();
  const error = engine.error();
  const free = engine.up() ? await context.runtime.freeBytes().catch(() => undefined) : undefined;
  const forwarding = context.forwarding?.();
  return {
    version: about.version,
    installation: store.installationId,
    prefix: names.prefix,
    root: layout.root,
    started_at: isoTime(about.startedAt),
    engine: {
      up: engine.up(),
      since: isoTime(engine.since()),
      host: about.dockerHost,
      ...(engine.up() || error === undefined ? {} : { error }),
      ...(info === undefined
        ? {}
        : {
            version: info.version,
            api_version: info.apiVersion,
            cgroup_version: info.cgroupVersion,
            live_restore: info.liveRestore,
          }),
      ...(free === undefined ? {} : { free_bytes: free }),
    },
    ...(forwarding === undefined ? {} : { forwarding: { state: forwarding.state, detail: forwarding.detail } }),
    store: { manifests: store.manifests.count(), collection_held: store.collectionHeld },
    reconciler: { queued, failing: [...context.progress.troubles()].length },
  };
}
