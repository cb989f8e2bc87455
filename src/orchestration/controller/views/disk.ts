import { join } from "node:path";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure, shownCause } from "../../../base/wire/failure.ts";
import { folderSize } from "../../../base/disk/folder-size.ts";
import type { DiskUse, Pruned, PrunePlan, VolumeUse } from "../../api/disk.ts";
import type { EngineDisk } from "../../engine/machine.ts";
import { collectImages, imagesInNeed, unusedImages } from "../desired/images.ts";
import type { Context } from "../state/context.ts";
import { listLeftovers } from "../write/leftovers.ts";
import { drillRole } from "../../core/drill-spec.ts";
import { engineVolumeName } from "../../core/named-volumes.ts";
import type { ManifestKey } from "../../api/manifest.ts";

/** What fills the disk, and how to make room. */
interface DiskOperations {
  /** Never waits for the engine unless `wait` is set; starts a measurement where the last one is old. */
  disk(options: { wait: boolean }): Promise<DiskUse>;
  /** Fails as the engine does. */
  planPrune(): Promise<PrunePlan>;
  prune(options: { actor: string }): Promise<Pruned>;
}

interface Measured {
  at: number;
  engine: EngineDisk;
  stores: DiskUse["stores"];
}

export function createDiskRoom(context: Context): DiskOperations {
  const { engine, clock, limits } = context;
  let last: Measured | undefined;
  let running: Promise<void> | undefined;
  let error: string | undefined;

  async function measure(): Promise<void> {
    try {
      const [found, stores] = await Promise.all([engine.diskUse(), storeSizes(context)]);
      last = { at: clock.now(), engine: found, stores };
      error = undefined;
    } catch (fault) {
      if (!(fault instanceof Failure)) context.log.error("disk use not measured", { error: fault });
      error = shownCause(fault);
    }
  }

  function begin(): Promise<void> {
    running ??= measure().finally(() => {
      running = undefined;
    });
    return running;
  }

  const isOld = () => last === undefined || clock.now() - last.at > limits.disk.freshMs;

  return {
    async disk({ wait }) {
      if (isOld()) {
        const done = begin();
        if (wait) await done;
      }
      return {
        ...(last === undefined ? {} : { measured_at: isoTime(last.at), engine: engineView(context, last.engine) }),
        measuring: running !== undefined,
        error,
        stores: last?.stores ?? [],
        volumes: last === undefined ? [] : await volumeUses(context, last.engine),
      };
    },
    async planPrune() {
      const [found, { leftovers }] = await Promise.all([engine.diskUse(), listLeftovers(context, {})]);
      const images = unusedWithSize(context, found);
      return { ...summed(images, found.buildCacheUnusedBytes), leftovers };
    },
    async prune({ actor }) {
      const found = await engine.diskUse();
      const sizes = new Map(unusedWithSize(context, found).map((image) => [image.id, image]));
      const removed = await collectImages(context);
      const images = removed.flatMap((id) => sizes.get(id) ?? []);
      const done = summed(images, await engine.pruneBuildCache());
      const detail = { images: images.map(({ ref }) => ref), bytes: done.bytes };
      await context.store.write((tx) => tx.events.append({ actor, action: "disk.prune", detail }, clock.now()));
      last = undefined;
      return done;
    },
  };
}

function summed(images: PrunePlan["images"], buildCacheBytes: number): Pruned {
  const bytes = images.reduce((sum, image) => sum + image.bytes, buildCacheBytes);
  return { images, build_cache_bytes: buildCacheBytes, bytes };
}

function unusedWithSize(context: Context, { images }: EngineDisk): PrunePlan["images"] {
  const sizes = new Map(images.map((image) => [image.id, image]));
  return unusedImages(context).flatMap(({ imageId, ref }) => {
    const image = sizes.get(imageId);
    return image === undefined || image.containers > 0 ? [] : [{ id: imageId, ref, bytes: image.bytes }];
  });
}

function engineView(context: Context, found: EngineDisk): NonNullable<DiskUse["engine"]> {
  const needed = imagesInNeed(context);
  const removable = new Set(unusedImages(context).map(({ imageId }) => imageId));
  const sum = (fits: (image: EngineDisk["images"][number]) => boolean) =>
    found.images.filter(fits).reduce((bytes, image) => bytes + image.bytes, 0);
  const isUsed = ({ containers }: EngineDisk["images"][number]) => containers > 0;
  return {
    images: {
      count: found.images.length,
      bytes: found.layersBytes,
      used_bytes: sum(isUsed),
      rollback_bytes: sum((image) => !isUsed(image) && needed.has(image.id)),
      removable_bytes: sum((image) => !isUsed(image) && removable.has(image.id)),
      foreign_bytes: sum((image) => !isUsed(image) && !needed.has(image.id) && !removable.has(image.id)),
    },
    build_cache: { bytes: found.buildCacheBytes, unused_bytes: found.buildCacheUnusedBytes },
    volumes: {
      count: found.volumes.length,
      bytes: found.volumes.reduce((bytes, volume) => bytes + (volume.bytes ?? 0), 0),
    },
    containers: {
      count: found.containers,
      writable_bytes: found.writableBytes,
      ...(found.logBytes === undefined ? {} : { log_bytes: found.logBytes }),
    },
  };
}

async function storeSizes({ layout, limits }: Context): Promise<DiskUse["stores"]> {
  const { caps, filesMax } = limits.disk;
  const rows: { name: string; path: string; cap: string; capBytes?: number }[] = [
    { name: "platform database", path: layout.database, cap: "the rows of each table are limited" },
    {
      name: "tokens, audit trail, alerts",
      path: layout.observabilityDatabase,
      cap: "the rows of each table are limited",
    },
    { name: "users", path: layout.identityDatabase, cap: "grows with the users" },
    { name: "metrics", path: layout.metricsDatabase, cap: "age and bytes", capBytes: caps.metrics },
    { name: "stored logs", path: join(layout.logs, "pods"), cap: "7 days and bytes", capBytes: caps.logs },
    { name: "build folders", path: layout.builds, cap: "bytes", capBytes: caps.builds },
    { name: "pushed repositories", path: layout.repositories, cap: "each push is limited" },
    { name: "backups", path: layout.backups, cap: "the number of backups is limited" },
    { name: "cache of backup targets", path: layout.copies, cap: "can be made again at any time" },
    { name: "assets", path: layout.assets, cap: "only those that an app uses" },
    { name: "plugins", path: layout.plugins, cap: "at most three versions of each" },
    { name: "host folders of apps", path: layout.volumes, cap: "no limit: they are data of apps" },
  ];
  const found: DiskUse["stores"] = [];
  for (const { name, path, cap, capBytes } of rows) {
    // SQLite keeps a log beside the database.
    const sizes = await Promise.all([path, `${path}-wal`, `${path}-shm`].map((one) => folderSize(one, filesMax)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    found.push({ name, path, bytes, cap, ...(capBytes === undefined ? {} : { cap_bytes: capBytes }) });
  }
  return found;
}

/** Volumes of this installation with the app that they belong to. */
async function volumeUses(context: Context, found: EngineDisk): Promise<VolumeUse[]> {
  const { store, names } = context;
  const owners = new Map<string, Pick<VolumeUse, "scope" | "name"> & { isStored: boolean; isKept: boolean }>();
  const isStored = (key: ManifestKey) => store.manifests.get(key) !== undefined;
  for (const { kind, scope, name, volume } of store.volumes.all())
    owners.set(volume, { scope, name, isStored: isStored({ kind, scope, name }), isKept: false });
  for (const use of store.namedVolumes.all()) {
    const { owner, volume, plain, scope, name } = use;
    const users = store.namedVolumes.users(owner, volume);
    const engineName = engineVolumeName({ owner, name: volume, external: false }, names, () => plain);
    const user = users.find(isStored);
    const shown = user ?? { scope, name };
    // What has a plain name in the engine may be of anybody.
    owners.set(engineName, { scope: shown.scope, name: shown.name, isStored: user !== undefined, isKept: plain });
  }
  const { label } = names;
  const sorted = found.volumes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap(({ name: volume, labels, bytes, users }) => {
    const isOurs = labels[label.installation] === store.installationId && labels[label.role] !== drillRole;
    const owner = owners.get(volume) ?? (isOurs ? fromLabels(context, labels) : undefined);
    if (owner === undefined) return [];
    const { scope, name } = owner;
    const state = stateOf({ ...owner, users: users ?? 0 });
    return [
      {
        ...{ volume, scope, name, state },
        ...(bytes === undefined ? {} : { bytes }),
        ...(state === "leftover" && name !== "" ? { remove: `${names.prefix} delete ${scope}/${name} --prune` } : {}),
      },
    ];
  });
}

function fromLabels({ names, store }: Context, labels: Record<string, string>) {
  const { [names.label.scope]: scope = "", [names.label.name]: name, [names.label.kind]: kind } = labels;
  if (name === undefined || kind === undefined) return { scope, name: "", isStored: false, isKept: true };
  return { scope, name, isStored: store.manifests.get({ kind, scope, name }) !== undefined, isKept: false };
}

function stateOf({
  users,
  isStored,
  isKept,
}: {
  users: number;
  isStored: boolean;
  isKept: boolean;
}): VolumeUse["state"] {
  if (users > 0) return "used";
  if (isStored) return "idle";
  return isKept ? "kept" : "leftover";
}
