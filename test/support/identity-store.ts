import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  identityMigrations,
  type IdentityNouns,
  type IdentityStore,
  openIdentityStore,
} from "../../src/identity/store/open-store.ts";
import type { Instance, Session, User } from "../../src/identity/store/records.ts";
import { putDatabase, testKey } from "./store-root.ts";

/** An identity database in a folder of its own; `remove` it after. */
export interface TestIdentityStore {
  store: IdentityStore;
  path: string;
  remove(): void;
}

export function openTestIdentityStore(): TestIdentityStore {
  const folder = mkdtempSync(join(tmpdir(), "berth-identity-"));
  const path = join(folder, "identity.db");
  putDatabase(path, identityMigrations);
  const store = openIdentityStore({ path, key: testKey });
  return {
    store,
    path,
    remove() {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An instance of the app "shop", made when missing. */
export function putInstance(nouns: IdentityNouns, name: string): Instance {
  if (nouns.apps.get("app_shop") === undefined) nouns.apps.put({ id: "app_shop", name: "shop", createdAt: 1 });
  return nouns.instances.add({
    id: `inst_${name}`,
    appId: "app_shop",
    name,
    environment: "production",
    host: undefined,
    publishableKey: `pk_live_${name}`,
    settings: {},
    createdAt: 1,
    updatedAt: 1,
  });
}

export function putUser(nouns: IdentityNouns, instance: Instance, fields: Partial<User> & { email: string }): User {
  return nouns.users.add({
    id: crypto.randomUUID(),
    instance: instance.seq,
    name: "Ana",
    avatarUrl: undefined,
    emailVerifiedAt: undefined,
    placeholder: false,
    passwordHash: undefined,
    bannedAt: undefined,
    createdAt: 1,
    updatedAt: 1,
    ...fields,
  });
}

export function putSession(nouns: IdentityNouns, user: User, fields: Partial<Session> = {}): Session {
  const at = fields.loggedInAt ?? 1;
  return nouns.sessions.add({
    id: crypto.randomUUID(),
    sessionId: `svc_session_${crypto.randomUUID()}`,
    instance: user.instance,
    user: user.seq,
    provider: "google",
    name: user.name,
    email: user.email,
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
    ...fields,
  });
}
