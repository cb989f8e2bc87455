import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CoreKind, Spec } from "../../src/api/manifest.ts";
import { secret } from "../../src/lib/secret.ts";
import { openStore, type StoreOptions } from "../../src/store/open-store.ts";

/** A folder of its own for one test; `remove` it after. */
export interface TestRoot {
  root: string;
  path: string;
  lockPath: string;
  remove(): void;
}

export function testRoot(): TestRoot {
  const root = mkdtempSync(join(tmpdir(), "store-"));
  mkdirSync(join(root, "run"));
  return {
    root,
    path: join(root, "state.db"),
    lockPath: join(root, "run", "lock.db"),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export const testKey = secret<Uint8Array>(new Uint8Array(32).fill(7));

/** Registry tokens are the only secrets. */
export function mapTestSecrets(kind: CoreKind, spec: Spec, f: (value: string, path: string) => string): Spec {
  if (kind !== "registry" || typeof spec.token !== "string") return spec;
  return { ...spec, token: f(spec.token, "spec.token") };
}

export function openTestStore(at: TestRoot, overrides: Partial<StoreOptions> = {}) {
  return openStore({
    path: at.path,
    lockPath: at.lockPath,
    key: testKey,
    mapSecrets: mapTestSecrets,
    limits: { eventsKept: 1_000, imagePinsKept: 3, operationsKept: 3 },
    onListenerError: (error) => {
      throw error;
    },
    ...overrides,
  });
}
