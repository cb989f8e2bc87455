import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { openDatabase } from "../../src/base/sqlite/database.ts";
import { secret } from "../../src/base/words/secret.ts";
import { openStore, type StoreLimits, type StoreOptions } from "../../src/orchestration/store/open-store.ts";

const tmpfs = 0x01021994;

/** A folder on a disk: temporary ones of a run are in memory. Undefined where there is none. */
export const onDisk = [tmpdir(), "/var/tmp", import.meta.dir].find((folder) => statfsSync(folder).type !== tmpfs);

/** A folder of its own for one test; `remove` it after. */
export interface TestRoot {
  root: string;
  path: string;
  lockPath: string;
  remove(): void;
}

export function testRoot(folder = tmpdir()): TestRoot {
  const root = mkdtempSync(join(folder, "store-"));
  mkdirSync(join(root, "run"));
  return {
    root,
    path: join(root, "state.db"),
    lockPath: join(root, "run", "lock.db"),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

const migrated = new Map<readonly string[], Uint8Array>();

/** Puts a new database at `path`, as `openDatabase` makes it: migrated once, then copied, since that takes 10 ms each time. */
export function putDatabase(path: string, migrations: readonly string[]): void {
  let bytes = migrated.get(migrations);
  if (bytes === undefined) {
    const { path: first, remove } = testRoot();
    openDatabase(first, migrations).close();
    bytes = readFileSync(first);
    migrated.set(migrations, bytes);
    remove();
  }
  writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
}

export const testKey = secret<Uint8Array>(new Uint8Array(32).fill(7));

export const testLimits: StoreLimits = {
  gatherMs: 0,
  eventsKept: 1_000,
  historyKept: 1_000,
  historyBytesKept: 1_000_000,
  imagePinsKept: 3,
  operationsKept: 3,
  keyedRequestsKept: 3,
  atomicKept: 3,
  releasesKept: 3,
  buildsKept: 3,
  deathsKept: 3,
  deathsKeptMs: 1_000,
  deliveriesKept: 3,
  pluginRunsKept: 3,
};

/** Registry tokens are the only secrets. */
export function mapTestSecrets(kind: string, spec: Spec, f: (value: string, path: string) => string): Spec {
  if (kind !== "registry" || typeof spec.token !== "string") return spec;
  return { ...spec, token: f(spec.token, "spec.token") };
}

export function openTestStore(at: TestRoot, overrides: Partial<StoreOptions> = {}) {
  return openStore({
    path: at.path,
    lockPath: at.lockPath,
    key: testKey,
    mapSecrets: mapTestSecrets,
    limits: testLimits,
    onListenerError: (error) => {
      throw error;
    },
    ...overrides,
  });
}
