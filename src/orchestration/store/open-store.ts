import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { createBroadcast } from "../../base/words/broadcast.ts";
import type { Secret } from "../../base/words/secret.ts";
import { createAtomic } from "./atomic.ts";
import { createAutoscale } from "./autoscale.ts";
import { createBlocks } from "./blocks.ts";
import { createCanaries } from "./canaries.ts";
import { createDocuments } from "./documents.ts";
import { createReservations } from "./reservations.ts";
import { createConfig } from "./config.ts";
import { copyInto, openDatabase, quickCheck } from "../../base/sqlite/database.ts";
import { createDeaths } from "./deaths.ts";
import { holdsEverything } from "./copy.ts";
import { createDeletions } from "./deletions.ts";
import { createDeliveries } from "./deliveries.ts";
import { createDependencies } from "./dependencies.ts";
import { createEvents, createHistory } from "./events.ts";
import { createFrozen } from "./frozen.ts";
import { createImages } from "./images.ts";
import { takeLock } from "../../base/sqlite/lock.ts";
import { createManifests } from "./manifests.ts";
import { bindKey, createMeta } from "../../base/sqlite/meta.ts";
import { stateMigrations } from "./migrations/all.ts";
import { createNamedVolumes } from "./named-volumes.ts";
import { createOperations } from "./operations.ts";
import { createPluginConfig } from "./plugin-config.ts";
import { createPluginRuns } from "./plugin-runs.ts";
import { createBuilds } from "./builds.ts";
import { createLooks } from "./looks.ts";
import { createLocks } from "./locks.ts";
import { createPreviews } from "./previews.ts";
import { createKeyedRequests } from "./keyed-requests.ts";
import { createReceipts } from "./receipts.ts";
import { createReleases } from "./releases.ts";
import { columnsOf } from "./rows.ts";
import { createRuns } from "./runs.ts";
import { createSeal, type Seal } from "../../base/sqlite/seal.ts";
import { createSpecSealer, type MapSecrets } from "./sealed-spec.ts";
import { createSleep } from "./sleep.ts";
import { createStatus } from "./status.ts";
import type { Store, Transaction } from "./store.ts";
import { createVersions } from "./versions.ts";
import { createVolumes } from "./volumes.ts";
import { createWriter } from "../../base/sqlite/write.ts";

export interface StoreOptions {
  /** The database file; its folder is the root that error texts name. */
  path: string;
  lockPath: string;
  /** 32 bytes; see `disk/key-file.ts`. */
  key: Secret<Uint8Array>;
  /** Which strings of a spec are secrets; see `core/mask.ts`. */
  mapSecrets: MapSecrets;
  limits: StoreLimits;
  /** Told about a subscriber that threw: a bug, never passed on to writers. */
  onListenerError: (error: unknown) => void;
}

export interface StoreLimits {
  /** See `createWriter`. */
  gatherMs: number;
  eventsKept: number;
  /** Changes of what is wanted, in all, and the most bytes of their specs. */
  historyKept: number;
  historyBytesKept: number;
  imagePinsKept: number;
  operationsKept: number;
  /** Atomic applies in all; those that wait are kept beyond it. */
  atomicKept: number;
  /** Per resource, as are deaths. */
  releasesKept: number;
  buildsKept: number;
  deathsKept: number;
  /** Deaths older than this go, milliseconds. */
  deathsKeptMs: number;
  /** In all; those that wait are kept beyond it. */
  deliveriesKept: number;
  /** In all; those under way are kept beyond it. */
  pluginRunsKept: number;
  keyedRequestsKept: number;
}

/**
 * Opens the store of a root, made when missing, and holds the root's lock until `close` or the end of the process.
 * Fails `conflict` when another process holds it, when the key is another one, or when the schema is of a newer berth;
 * `unavailable` when the file is damaged.
 */
export function openStore(options: StoreOptions): Store {
  const seal = createSeal(options.key);
  const unlock = takeLock(options.lockPath, dirname(options.path));
  let db: Database | undefined;
  try {
    db = openDatabase(options.path, stateMigrations);
    return assemble(db, { ...options, seal, unlock });
  } catch (error) {
    db?.close();
    unlock();
    throw error;
  }
}

function assemble(db: Database, options: StoreOptions & { seal: Seal; unlock: () => void }): Store {
  const { path, seal, unlock } = options;
  const meta = createMeta(db);
  bindKey(meta, seal, path);
  const installationId = installationOf(meta);
  const changes = createBroadcast<ManifestKey[]>(options.onListenerError);

  let moved: (key: ManifestKey) => void = () => undefined;
  const { tx, forget } = createTransaction(db, options, (key) => moved(key));
  const { gatherMs } = options.limits;
  const writer = createWriter({ db, file: path, onMoved: changes.publish, onUndone: forget, keyText, gatherMs });

  return {
    ...tx,
    installationId,
    write: (change, options) =>
      writer.write((moves) => {
        moved = moves.add;
        return change(tx);
      }, options),
    subscribe: changes.subscribe,
    check: () => quickCheck(db),
    copyTo: (target) => copyInto(db, target),
    get collectionHeld() {
      return meta.get("collection_held") !== undefined;
    },
    get actionsHeld() {
      return holdsEverything(meta.get("collection_held"));
    },
    close() {
      writer.close();
      db.close();
      unlock();
    },
  };
}

/** The nouns as a change sees them; `forget` drops what they keep in memory. */
function createTransaction(
  db: Database,
  { limits, mapSecrets, seal }: StoreOptions & { seal: Seal },
  onMoved: (key: ManifestKey) => void,
): { tx: Transaction; forget: () => void } {
  const versions = createVersions(db);
  /** What is remembered of the database is forgotten when a transaction fails, or when its resource goes. */
  const forgets: (() => void)[] = [];
  function remembering<Noun extends { forget(): void }>(noun: Noun): Noun {
    forgets.push(() => noun.forget());
    return noun;
  }
  const sealer = createSpecSealer(seal, mapSecrets, (key: ManifestKey) => ["manifests", ...columnsOf(key)]);
  const { manifests } = remembering(createManifests(db, { sealer, versions, onMoved }));
  const { history, record } = remembering(createHistory(db, { seal, sealer, limits }));
  const events = createEvents(db, limits.eventsKept);
  const { config } = remembering(createConfig(db, seal));
  const { status, forget: forgetStatus } = remembering(createStatus(db));
  const { nouns: looks, forget: forgetLooks } = remembering(createLooks(db));
  const releaseSealer = createSpecSealer(seal, mapSecrets, (row: ManifestKey & { id: string }) => ["releases", row.id]);
  const { releases, forget: forgetReleases } = remembering(createReleases(db, releaseSealer, limits.releasesKept));
  const { frozen, forget: forgetFrozen } = remembering(createFrozen(db, onMoved));
  const { canaries, forget: forgetCanaries } = remembering(createCanaries(db, onMoved));
  const { sleep, forget: forgetSleep } = remembering(createSleep(db, onMoved));
  const { images, forget: forgetImages } = remembering(createImages(db, limits.imagePinsKept));
  const { dependencies, forget: forgetDependencies } = remembering(createDependencies(db));
  const { locks } = remembering(createLocks(db));
  const { atomic } = remembering(createAtomic(db, seal, limits.atomicKept));
  const { deletions } = remembering(createDeletions(db, onMoved));
  const { autoscale, forget: forgetAutoscale } = remembering(createAutoscale(db, onMoved));
  const { blocks, forget: forgetBlocks } = remembering(createBlocks(db, seal, versions));
  const tx: Transaction = {
    manifests: {
      ...manifests,
      ...createReservations(db),
      ...dependencies,
      touch: (key) => onMoved(keyOf(key)),
      delete(key) {
        forgetStatus(keyText(key));
        forgetLooks(keyText(key));
        forgetReleases(keyText(key));
        forgetImages(keyText(key));
        forgetFrozen();
        forgetCanaries(key);
        forgetSleep(key);
        forgetAutoscale(key);
        forgetBlocks(key);
        forgetDependencies();
        return manifests.delete(key);
      },
    },
    config,
    events: {
      ...events,
      append(event, now) {
        record(event, now);
        return events.append(event, now);
      },
    },
    history,
    ...looks,
    ...{ status, frozen, deletions, images, atomic, releases, canaries, locks, autoscale, sleep, blocks },
    ...nounsWithoutMemory(db, limits, seal),
  };
  return {
    tx,
    forget() {
      for (const forget of forgets) forget();
    },
  };
}

/** Their answers come from the database each time. */
function nounsWithoutMemory(db: Database, limits: StoreOptions["limits"], seal: Seal) {
  return {
    volumes: createVolumes(db),
    namedVolumes: createNamedVolumes(db),
    operations: createOperations(db, limits.operationsKept),
    receipts: createReceipts(db),
    builds: createBuilds(db, limits.buildsKept),
    previews: createPreviews(db),
    keyedRequests: createKeyedRequests(db, seal, limits.keyedRequestsKept),
    runs: createRuns(db),
    deaths: createDeaths(db, limits),
    deliveries: createDeliveries(db, seal, limits.deliveriesKept),
    pluginRuns: createPluginRuns(db, seal, limits.pluginRunsKept),
    pluginConfig: createPluginConfig(db, seal),
    certificates: createDocuments(db, seal, "certificates"),
    backups: createDocuments(db, seal, "backups"),
  };
}

function installationOf(meta: ReturnType<typeof createMeta>): string {
  const known = meta.get("installation_id");
  if (known !== undefined) return known;
  const made = randomBytes(8).toString("hex");
  meta.put("installation_id", made);
  return made;
}
