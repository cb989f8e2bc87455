import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSharedRead, type SharedRead } from "../../../../src/identity/store/shared-read.ts";
import { openIdentityStore } from "../../../../src/identity/store/open-store.ts";
import { testKey } from "../../../support/store-root.ts";

let folder: string;
let db: Database;
let other: Database;
let reading: SharedRead;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shared-read-"));
  const path = join(folder, "identity.db");
  openIdentityStore({ path, key: testKey }).close();
  db = new Database(path);
  other = new Database(path);
  db.run("create table t (v integer) strict");
  reading = createSharedRead(db);
});

afterEach(() => {
  for (const one of [db, other]) one.close();
  rmSync(folder, { recursive: true, force: true });
});

const count = () => db.query<{ n: number }, []>("select count(*) as n from t").get()?.n;
const add = (to: Database) => to.run("insert into t values (1)");
/** Nobody reads from the log any more. */
const isFree = () => other.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get()?.busy === 0;

test("all reads of one turn see the same, and the next turn sees what was written since", async () => {
  reading.begin();
  add(other);
  reading.begin();
  expect([count(), isFree()]).toEqual([0, false]);
  await Bun.sleep(0);
  expect([count(), isFree()]).toEqual([1, true]);
});

test("after its end the connection can write, whoever has written meanwhile, and be copied", () => {
  reading.begin();
  add(other);
  expect(() => db.run("begin immediate")).toThrow("locked");
  reading.end();
  db.run("begin immediate");
  add(db);
  db.run("commit");
  expect(count()).toBe(2);
  reading.begin();
  reading.end();
  db.query("vacuum into ?").run(join(folder, "copy.db"));
});

test("the store ends it before a write, before a copy and before it closes", async () => {
  const path = join(folder, "identity.db");
  const store = openIdentityStore({ path, key: testKey });
  const look = () => store.shownUsers.get(1, "email", "nobody@example.test");
  const written = new Promise<number>((resolve, reject) => {
    // In the same turn as the write, which comes right after it.
    setImmediate(() => {
      look();
      add(other);
    });
    store.write(({ apps }) => apps.put({ id: "app_a", name: "shop", createdAt: 1 })).then(() => resolve(1), reject);
  });
  expect(await written).toBe(1);
  look();
  store.copyTo(join(folder, "copy.db"));
  look();
  store.close();
  expect(isFree()).toBe(true);
});
