import { diskSpace } from "../../../base/disk/disk-space.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { system as systemEndpoint } from "../../api/health.ts";
import type { Context } from "../state/context.ts";

/** GET /system: what `/health` may not say. */
export async function system(context: Context): Promise<DataOf<typeof systemEndpoint>> {
  const { link, store, about, names, layout } = context;
  const info = link.info();
  const error = link.error();
  const free = link.up() ? await context.engine.freeBytes().catch(() => undefined) : undefined;
  // Also while the engine is down: its full disk may be why. The folder of an engine elsewhere is not here.
  const isHere = free !== undefined || about.dockerHost.startsWith("unix:");
  const folders = isHere && info !== undefined ? [layout.root, info.rootDir] : [layout.root];
  const disks = await diskSpace(folders, layout.root);
  const forwarding = context.forwarding?.();
  return {
    version: about.version,
    installation: store.installationId,
    prefix: names.prefix,
    root: layout.root,
    socket: layout.socket,
    started_at: isoTime(about.startedAt),
    engine: {
      up: link.up(),
      since: isoTime(link.since()),
      host: about.dockerHost,
      ...(link.up() || error === undefined ? {} : { error }),
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
    disks: disks.map(({ mount: path, usedPercent, freeBytes, readOnly: read_only }) => {
      const low = freeBytes < context.limits.diskFloorBytes;
      return { path, used_percent: Math.round(usedPercent * 10) / 10, free_bytes: freeBytes, low, read_only };
    }),
    ...(forwarding === undefined ? {} : { forwarding: { state: forwarding.state, detail: forwarding.detail } }),
    listeners: [...(context.listeners?.() ?? [])],
    ...(about.settings === undefined ? {} : { settings: about.settings.map(({ flag, value }) => ({ flag, value })) }),
    store: { manifests: store.manifests.count(), collection_held: store.collectionHeld },
    held: context.gate.heldBy(),
    reconciler: { queued: context.queued(), failing: [...context.progress.troubles()].length },
  };
}
