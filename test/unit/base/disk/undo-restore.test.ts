import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { writeBackup } from "../../../../src/base/disk/backup.ts";
import { loadKey } from "../../../../src/base/disk/key-file.ts";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { openIdentityStore } from "../../../../src/identity/store/open-store.ts";
import { copiesBeside } from "../../../../src/local/staging.ts";
import { restoreNow, undoNow } from "../../../../src/local/pending-restore.ts";
import { copyDatabase } from "../../../../src/orchestration/store/copy.ts";
import { diskRoot } from "../../../support/disk-root.ts";
import { expectFailure } from "../../../support/failure.ts";
import { openTestStore } from "../../../support/store-root.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

const web = { kind: "deployment" as const, scope: "shop", name: "web" };
const undo = (at = layout) => undoNow(at);

async function openState(at: Layout) {
  const key = await loadKey(at);
  return openTestStore({ root: at.root, path: at.database, lockPath: at.lock, remove: () => undefined }, { key });
}

/** Writes an image and the name of an app of the identity service. */
async function put(at: Layout, text: string): Promise<void> {
  const store = await openState(at);
  await store.write((tx) => tx.manifests.put({ ...web, spec: { image: text } }, 1));
  store.close();
  const identity = openIdentityStore({ path: at.identityDatabase, key: await loadKey(at), usersKept: 10 });
  await identity.write(({ apps }) => apps.put({ id: text, name: text, createdAt: 1 }));
  identity.close();
}

async function seen(at: Layout) {
  const store = await openState(at);
  const found = { image: store.manifests.get(web)?.spec.image, held: store.actionsHeld };
  store.close();
  const identity = openIdentityStore({ path: at.identityDatabase, key: await loadKey(at), usersKept: 10 });
  const apps = identity.apps.list().map(({ name }) => name);
  identity.close();
  return { ...found, apps: apps.sort() };
}

async function backupOf(at: Layout): Promise<string> {
  const target = join(at.backups, "one.backup");
  await writeBackup({
    copyDatabase: (to) => copyDatabase(at.database, to),
    copyBeside: copiesBeside(at),
    key: await loadKey(at),
    passphrase: undefined,
    target,
    now: 1,
  });
  return target;
}

test("an undo does not repeat a delete that was under way, whose app may have been applied anew since", async () => {
  await put(layout, "then");
  const file = await backupOf(layout);
  const before = await openState(layout);
  await before.write((tx) => tx.deletions.put({ ...web, at: 1, prune: true }));
  before.close();
  await restoreNow(layout, { file });
  await undo();
  const store = await openState(layout);
  expect(store.manifests.get(web)?.spec.image).toBe("then");
  expect(store.deletions.list()).toEqual([]);
  store.close();
});

test("an undo brings back the state and the users, sets the restored ones aside, and is done once", async () => {
  await put(layout, "then");
  const file = await backupOf(layout);
  await put(layout, "later");
  const before = await seen(layout);
  await restoreNow(layout, { file });
  expect(await seen(layout)).toEqual({ image: "then", held: true, apps: ["then"] });
  const at = await undo();
  expect(await seen(layout)).toEqual(before);
  expect(before).toEqual({ image: "later", held: false, apps: ["later", "then"] });
  expect(existsSync(`${layout.database}.before-undo-${at}`)).toBe(true);
  expect(readdirSync(layout.root).filter((name) => name.includes("before-restore"))).toEqual([]);
  expect((await expectFailure(undo(), "not_found")).message).toContain("nothing to undo");
});

test("an undo brings back another key too, also after a crash in the middle", async () => {
  await put(layout, "theirs");
  const file = await backupOf(layout);
  const own = await diskRoot();
  await put(own.layout, "ours");
  const before = await seen(own.layout);
  await restoreNow(own.layout, { file });
  expect((await seen(own.layout)).image).toBe("theirs");
  const { database, key } = own.layout;
  const at = await undo(own.layout);
  // As a crash before the last two steps leaves it.
  for (const path of [key, database]) {
    renameSync(path, `${path}.before-restore-${at}`);
    renameSync(`${path}.before-undo-${at}`, path);
  }
  await undo(own.layout);
  expect(await seen(own.layout)).toEqual(before);
  own.remove();
});
