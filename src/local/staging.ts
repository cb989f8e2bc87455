import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folders } from "../backups/restic/folders.ts";
import type { ImageRoom } from "../backups/service/platform.ts";
import { writeBackup } from "../base/disk/backup.ts";
import type { Key } from "../base/disk/key-file.ts";
import { type Beside, besideDatabases, type Layout } from "../base/disk/layout.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import { containerOf } from "../orchestration/core/spec/decode.ts";
import { buildOf } from "../orchestration/controller/desired/newest-build.ts";
import { copyDatabase } from "../orchestration/store/copy.ts";
import type { Store } from "../orchestration/store/store.ts";

/** Copies that a server has made and not removed, by the address of the target: a copy of the state holds the list. */
export type KnownCopies = Record<string, { id: string; at: number }[]>;
export const copiesFile = "copies.json";

/** Name of the backup file in a copy. */
export const stateFile = "berth.backup";

/**
 * A folder of its own for what is on its way to a target. `fill` writes what is copied; where it fails, the folder is gone, as
 * after `close`.
 */
export async function staged(folder: string, fill: () => Promise<void>) {
  const close = () => rm(folder, { recursive: true, force: true });
  // A server that was killed leaves its own there.
  await close();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await fill();
  } catch (error) {
    await close();
    throw error;
  }
  return { folder, close };
}

/**
 * Writes the server's state into a folder of its own, from where it is copied to a target: that encrypts it by the recovery
 * key. `close` removes the folder.
 */
export async function stageState(
  layout: Layout,
  { key, copyTo, now, copies }: { key: Key; copyTo: (path: string) => void; now: number; copies: KnownCopies },
): Promise<{ folder: string; close(): Promise<void> }> {
  const folder = join(layout.copies, "state");
  return staged(folder, async () => {
    await writeBackup({
      ...{ copyDatabase: copyTo, copyBeside: copiesBeside(layout), key, passphrase: undefined, now },
      target: join(folder, stateFile),
    });
    await writeFile(join(folder, copiesFile), JSON.stringify(copies), { mode: 0o600 });
  });
}

/** Images that the first containers of apps are made from: of those that were built and have not run yet. */
function builtOnly(store: Store): string[] {
  return store.manifests.heads().flatMap((key) => {
    if (store.images.pinOf(key) !== undefined) return [];
    const { container } = containerOf(key.kind, store.manifests.get(key)?.spec ?? {}) ?? {};
    return container?.isBuilt === true ? (buildOf(store, key, container.buildId)?.imageId ?? []) : [];
  });
}

/** Images, and folders of their own for those on their way. */
export function createImageRoom({
  engine,
  store,
  folder: place,
}: {
  engine: Engine;
  store: Store;
  folder: string;
}): ImageRoom {
  const prefix = "image-";
  const file = (folder: string) => join(folder, "image.tar");
  // A server that was killed leaves its own there.
  const clear = async () => {
    await mkdir(place, { recursive: true, mode: 0o700 });
    for (const name of await readdir(place)) if (name.startsWith(prefix)) await folders.remove(join(place, name));
  };
  let cleared: Promise<void> | undefined;
  return {
    wanted: () => {
      const kept = store.images.keptFor().map(({ imageId }) => imageId);
      const ids = new Set([...kept, ...builtOnly(store)]);
      return [...ids].filter((id) => store.images.digestOf(id) === undefined);
    },
    sizeOf: async (id) => (await engine.inspectImage(id))?.sizeBytes,
    async stage() {
      cleared ??= clear().catch((error: unknown) => {
        cleared = undefined;
        throw error;
      });
      await cleared;
      const folder = await mkdtemp(join(place, prefix));
      return { folder, ...(await folders.space(folder)), close: () => folders.remove(folder) };
    },
    save: (id, folder) => engine.saveImage(id, file(folder)),
    load: (folder) => engine.loadImage(file(folder)),
  };
}

/** What copies the databases beside the platform's own, as far as they are there. */
export function copiesBeside(layout: Layout): Partial<Record<Beside, (target: string) => void>> {
  const present = Object.entries(besideDatabases(layout)).filter(([, path]) => existsSync(path));
  return Object.fromEntries(present.map(([name, path]) => [name, (target: string) => copyDatabase(path, target)]));
}
