import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secret } from "../../../../src/base/words/secret.ts";
import { openDatabase } from "../../../../src/base/sqlite/database.ts";
import {
  identityMigrations,
  type IdentityStore,
  openIdentityStore,
} from "../../../../src/identity/store/open-store.ts";

let folder: string;
let path: string;
let store: IdentityStore;
const key = secret<Uint8Array>(randomBytes(32));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-identity-"));
  path = join(folder, "identity.db");
  store = openIdentityStore({ path, key });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const hashOf = (value: string) => new Uint8Array(createHash("sha256").update(value).digest());

async function addInstance() {
  return store.write(({ apps, instances }) => {
    apps.put({ id: "app_a", name: "shop", createdAt: 1 });
    const times = { createdAt: 1, updatedAt: 1 };
    const names = { id: "inst_a", appId: "app_a", name: "production", publishableKey: "pk_live_a" };
    return instances.add({ ...names, environment: "production", host: "id.shop.test", settings: {}, ...times });
  });
}

test("rows come back as they were written, after a new start too", async () => {
  const instance = await addInstance();
  await store.write(({ keys, users, sessions }) => {
    const times = { createdAt: 5, expiresAt: undefined };
    const value = "sk_live_very-secret";
    keys.add(
      { id: "key_a", instance: instance.seq, use: "secret", state: "signing", value, prefix: "sk_live_", ...times },
      hashOf(value),
    );
    const user = users.add({
      id: "5e0f7a52-1111-4a1b-9d11-000000000001",
      instance: instance.seq,
      email: "ana@shop.test",
      name: "Ana",
      avatarUrl: undefined,
      emailVerifiedAt: 7,
      placeholder: false,
      passwordHash: undefined,
      bannedAt: undefined,
      createdAt: 7,
      updatedAt: 7,
    });
    for (const at of [10, 30, 20]) {
      sessions.add({
        id: `5e0f7a52-2222-4a1b-9d11-0000000000${at}`,
        sessionId: `svc_session_${at}`,
        instance: instance.seq,
        user: user.seq,
        provider: "google",
        name: "Ana",
        email: "ana@shop.test",
        ipAddress: "10.0.0.1",
        userAgent: "test",
        geoData: {},
        device: undefined,
        loggedInAt: at,
        lastSigninAt: at,
        lastActivityAt: at,
        expiresAt: undefined,
        revokedAt: undefined,
        revokeReason: undefined,
        createdAt: at,
      });
    }
  });
  store.close();
  store = openIdentityStore({ path, key });

  expect(store.instances.byHost("id.shop.test")).toEqual(instance);
  expect(store.keys.byHash(hashOf("sk_live_very-secret"))?.value).toBe("sk_live_very-secret");
  const user = store.users.byEmail(instance.seq, "ana@shop.test");
  expect(user?.emailVerifiedAt).toBe(7);
  const first = store.sessions.list(instance.seq, { limit: 2 });
  expect(first.map(({ lastSigninAt }) => lastSigninAt)).toEqual([30, 20]);
  const [, last] = first;
  if (last === undefined) throw new Error("two sessions were expected");
  const rest = store.sessions.list(instance.seq, { limit: 2, after: last });
  expect(rest.map(({ lastSigninAt }) => lastSigninAt)).toEqual([10]);
  expect(await store.write(({ sessions }) => sessions.revokeAll(user?.seq ?? 0, "banned", 99))).toHaveLength(3);
  expect(store.sessions.active(user?.seq ?? 0)).toEqual([]);
});

test("no key stands in the file", async () => {
  const instance = await addInstance();
  const value = "sk_live_never-in-the-file";
  await store.write(({ keys }) => {
    const times = { createdAt: 5, expiresAt: undefined };
    keys.add(
      { id: "k", instance: instance.seq, use: "secret", state: "signing", value, prefix: "sk", ...times },
      hashOf(value),
    );
  });
  store.close();
  expect(readFileSync(path).includes(value)).toBe(false);
  store = openIdentityStore({ path, key });
});

test("an instance takes everything in it along", async () => {
  const instance = await addInstance();
  await store.write(({ instances }) => instances.remove(instance.seq));
  expect(store.instances.list()).toEqual([]);
});

test("a database of the first schema is brought up to date: states that wait are counted", () => {
  const old = join(folder, "old.db");
  const raw = openDatabase(old, identityMigrations.slice(0, 1));
  const values = "(hash, instance, provider, redirect_uri, browser, endpoints, created_at, expires_at) values";
  raw.run("insert into apps values (1, 'app_a', 'shop', 1)");
  const names = "(seq, id, app_id, name, environment, publishable_key, settings, created_at, updated_at)";
  raw.run(`insert into instances ${names} values (1, 'inst_a', 'app_a', 'main', 'production', 'pk', '{}', 1, 1)`);
  for (const n of [1, 2]) {
    raw.run(`insert into oauth_states ${values} (?, 1, 'google', 'https://a.test', x'00', '{}', 1, 2)`, [
      new Uint8Array([n]),
    ]);
  }
  raw.close();
  const upgraded = openIdentityStore({ path: old, key });
  expect(upgraded.oauthStates.waiting(1, "203.0.113.7")).toEqual({ all: 2, instance: 2, client: 0 });
  upgraded.close();
});

test("a database of an earlier version: refresh tokens go on, and instances keep their number of sessions", async () => {
  const instance = await addInstance();
  store.close();
  const earlier = join(folder, "earlier.db");
  const db = openDatabase(earlier, identityMigrations.slice(0, 3));
  db.run("attach ? as now", [path]);
  for (const table of ["apps", "instances"]) db.run(`insert into ${table} select * from now.${table}`);
  db.run(
    "insert into users (id, instance, email, name, placeholder, created_at, updated_at) values ('u', ?, 'a@b.c', 'A', 0, 1, 1)",
    [instance.seq],
  );
  db.run(
    "insert into sessions (id, session_id, instance, user, provider, name, email, ip_address, user_agent, geo_data," +
      " logged_in_at, last_signin_at, last_activity_at, created_at)" +
      " values ('s', 'svc_session_s', ?, 1, 'google', 'A', 'a@b.c', '', '', '{}', 1, 1, 1, 1)",
    [instance.seq],
  );
  const [used, unused] = [hashOf("used").subarray(0, 16), hashOf("unused").subarray(0, 16)];
  for (const [id, generation] of [
    [used, 5],
    [unused, 0],
  ] as const) {
    db.run("insert into refresh_chains values (?, 1, ?, 7, 900, 2)", [id, generation]);
  }
  db.close();
  store = openIdentityStore({ path: earlier, key });
  const rest = { session: 1, spent: [7], sharedAt: undefined, expiresAt: 900, createdAt: 2 };
  expect(store.refreshChains.get(used)).toEqual({ ...rest, id: used, generation: 5 });
  expect(store.refreshChains.get(unused)).toEqual({ ...rest, id: unused, generation: 0 });
  expect(store.instances.get("inst_a")?.settings).toEqual({});
});
