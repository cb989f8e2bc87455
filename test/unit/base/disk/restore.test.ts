import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { writeBackup } from "../../../../src/base/disk/backup.ts";
import { makeFolders } from "../../../../src/base/disk/root.ts";
import { loadKey } from "../../../../src/base/disk/key-file.ts";
import { type Layout, layoutOf } from "../../../../src/base/disk/layout.ts";
import { restoreInto } from "../../../../src/base/disk/restore.ts";
import type { Secret } from "../../../../src/base/words/secret.ts";
import {
  confirmRestore,
  copyDatabase,
  prepareRestored,
  settleDatabase,
} from "../../../../src/orchestration/store/copy.ts";
import { copiesBeside } from "../../../../src/local/staging.ts";
import { openObservabilityStore } from "../../../../src/observability/store/open-store.ts";
import { prepareRestoredObservability } from "../../../../src/observability/store/restored.ts";
import { openIdentityStore } from "../../../../src/identity/store/open-store.ts";
import { prepareRestoredIdentity } from "../../../../src/identity/store/restored.ts";
import { takeLock } from "../../../../src/base/sqlite/lock.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { diskRoot } from "../../../support/disk-root.ts";
import { openTestStore } from "../../../support/store-root.ts";

let layout: Layout;
let remove: () => void;
let file: string;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
  file = join(layout.backups, "one.backup");
});
afterEach(() => remove());

const web = { kind: "deployment" as const, scope: "shop", name: "web" };
const now = Date.parse("2026-01-02T03:04:05.678Z");
const suffix = "before-restore-2026-01-02T03-04-05.678Z";

const open = async (at: Layout) => {
  const paths = { root: at.root, path: at.database, lockPath: at.lock, remove: () => undefined };
  return openTestStore(paths, { key: await loadKey(at) });
};
const put = (store: Store, image: string) =>
  store.write((tx) => {
    tx.config.patch("shop", "web", { TOKEN: image }, { now: 1 });
    return tx.manifests.put({ ...web, spec: { image } }, 1);
  });
const backup = async (passphrase?: Secret) =>
  writeBackup({
    copyDatabase: (target) => copyDatabase(layout.database, target),
    copyBeside: copiesBeside(layout),
    key: await loadKey(layout),
    passphrase,
    target: file,
    now,
  });
const restore = (at: Layout) =>
  restoreInto({
    layout: at,
    file,
    passphrase: undefined,
    now,
    lock: () => takeLock(at.lock, at.root),
    prepare: prepareRestored,
    prepareBeside: { identity: prepareRestoredIdentity, observability: prepareRestoredObservability },
    settle: settleDatabase,
  });

async function imageIn(at: Layout): Promise<unknown> {
  const store = await open(at);
  const image = store.manifests.get(web)?.spec.image;
  expect(store.config.bucket("shop", "web")).toEqual({ TOKEN: String(image) });
  store.close();
  return image;
}

test("a backup of a live server restores what was committed then, and keeps what was there", async () => {
  const store = await open(layout);
  await put(store, "then");
  await backup();
  await put(store, "later");
  store.close();
  const restored = await restore(layout);
  expect(restored).toEqual({
    createdAt: now,
    previous: `${layout.database}.${suffix}`,
    previousBeside: {},
  });
  expect(await imageIn(layout)).toBe("then");
  expect(existsSync(`${layout.key}.${suffix}`)).toBe(false);
  expect(readdirSync(layout.root).filter((name) => name.startsWith("."))).toEqual([]);
  rmSync(layout.database);
  copyDatabase(`${layout.database}.${suffix}`, layout.database);
  expect(await imageIn(layout)).toBe("later");
});

test("a restored server collects nothing until that is confirmed", async () => {
  const before = await open(layout);
  const { installationId } = before;
  before.close();
  await backup();
  await restore(layout);
  const store = await open(layout);
  expect(store.collectionHeld).toBe(true);
  expect(store.installationId).toBe(installationId);
  confirmRestore(layout.database);
  expect(store.collectionHeld).toBe(false);
  store.close();
});

test("a root that has another key, or nothing at all, gets the key of the backup", async () => {
  const store = await open(layout);
  await put(store, "then");
  store.close();
  await backup();
  const other = await diskRoot();
  const otherStore = await open(other.layout);
  otherStore.close();
  const otherKey = readFileSync(other.layout.key, "utf8");
  await restore(other.layout);
  expect(await imageIn(other.layout)).toBe("then");
  expect(readFileSync(`${other.layout.key}.${suffix}`, "utf8")).toBe(otherKey);
  other.remove();
  const fresh = layoutOf(join(layout.backups, "fresh"));
  expect((await restore(fresh)).previous).toBeUndefined();
  expect(await imageIn(fresh)).toBe("then");
});

test("a root in use is refused with the pid, untouched", async () => {
  const store = await open(layout);
  await put(store, "then");
  await backup();
  await put(store, "later");
  await expect(restore(layout)).rejects.toThrow(`is in use by pid ${process.pid}`);
  store.close();
  expect(await imageIn(layout)).toBe("later");
});

test("a damaged backup touches nothing", async () => {
  const store = await open(layout);
  await put(store, "then");
  store.close();
  await backup();
  const bytes = readFileSync(file);
  bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const before = readdirSync(layout.root).sort();
  await expect(restore(layout)).rejects.toMatchObject({ code: "invalid" });
  expect(readdirSync(layout.root).sort()).toEqual(before);
  expect(await imageIn(layout)).toBe("then");
});

test("a damaged database and a lost key are what a restore mends", async () => {
  const store = await open(layout);
  await put(store, "then");
  store.close();
  await backup();
  writeFileSync(layout.database, "junk".repeat(3_000));
  writeFileSync(`${layout.database}-wal`, "old log");
  rmSync(layout.key);
  await restore(layout);
  expect(await imageIn(layout)).toBe("then");
  expect(readFileSync(`${layout.database}.${suffix}`, "utf8")).toStartWith("junk");
  expect(readFileSync(`${layout.database}.${suffix}-wal`, "utf8")).toBe("old log");
});

const openIdentity = async (at: Layout) => openIdentityStore({ path: at.identityDatabase, key: await loadKey(at) });

async function putApp(at: Layout, name: string): Promise<void> {
  const identity = await openIdentity(at);
  await identity.write(({ apps }) => apps.put({ id: `app_${name}`, name, createdAt: 1 }));
  identity.close();
}

async function appsIn(at: Layout): Promise<string[]> {
  const identity = await openIdentity(at);
  const names = identity.apps.list().map(({ name }) => name);
  identity.close();
  return names;
}

test("users and their keys come back with the rest, and what was there is kept beside it", async () => {
  (await open(layout)).close();
  await putApp(layout, "then");
  await backup();
  await putApp(layout, "later");
  const { previousBeside } = await restore(layout);
  expect(previousBeside.identity).toBe(`${layout.identityDatabase}.${suffix}`);
  expect(await appsIn(layout)).toEqual(["then"]);
  expect(await appsIn({ ...layout, identityDatabase: `${layout.identityDatabase}.${suffix}` })).toEqual([
    "then",
    "later",
  ]);
});

test("a backup of a time before the identity service leaves users alone, unless their key goes", async () => {
  (await open(layout)).close();
  await backup();
  await putApp(layout, "shop");
  expect((await restore(layout)).previousBeside).toEqual({});
  expect(await appsIn(layout)).toEqual(["shop"]);
  const other = layoutOf(join(layout.root, "other"));
  await makeFolders(other);
  (await open(other)).close();
  await putApp(other, "elsewhere");
  writeFileSync(other.identityIndex, "of what is set aside");
  expect((await restore(other)).previousBeside.identity).toBe(`${other.identityDatabase}.${suffix}`);
  expect(existsSync(other.identityDatabase)).toBe(false);
  expect(existsSync(other.identityIndex)).toBe(false);
  expect(await appsIn(other)).toEqual([]);
});

async function tokensIn(at: Layout): Promise<string[]> {
  const plane = openObservabilityStore({ path: at.observabilityDatabase, key: await loadKey(at) });
  const names = plane.tokens.list().map(({ id }) => id);
  plane.close();
  return names;
}

async function putToken(at: Layout, id: string): Promise<void> {
  const plane = openObservabilityStore({ path: at.observabilityDatabase, key: await loadKey(at) });
  const lists = { scopes: ["read" as const], apps: [], networks: [] };
  const never = { lastUsedAt: undefined, lastUsedIp: undefined, lastUsedAgent: undefined, revokedAt: undefined };
  const token = { id, name: undefined, createdAt: 1, createdBy: "ana", expiresAt: undefined, ...lists, ...never };
  await plane.write(({ tokens }) => tokens.add(token, new Uint8Array(32)));
  plane.close();
}

test("tokens come back with the rest, and those made since are kept beside them", async () => {
  (await open(layout)).close();
  await putToken(layout, "aaaaaa");
  await backup();
  await putToken(layout, "bbbbbb");
  const { previousBeside } = await restore(layout);
  expect(previousBeside.observability).toBe(`${layout.observabilityDatabase}.${suffix}`);
  expect(await tokensIn(layout)).toEqual(["aaaaaa"]);
  const kept = { ...layout, observabilityDatabase: `${layout.observabilityDatabase}.${suffix}` };
  expect(await tokensIn(kept)).toEqual(["aaaaaa", "bbbbbb"]);
});

test("an identity database that this berth cannot open is refused before anything is touched", async () => {
  (await open(layout)).close();
  await putApp(layout, "then");
  const newer = new Database(layout.identityDatabase);
  newer.run("pragma user_version = 99");
  newer.close();
  await backup();
  const before = readFileSync(layout.database);
  await expect(restore(layout)).rejects.toThrow("has schema 99");
  expect(readFileSync(layout.database).equals(before)).toBe(true);
  expect(readdirSync(layout.root).filter((name) => name.startsWith(".") || name.includes("before"))).toEqual([]);
});
