import type { Database } from "bun:sqlite";
import type { Secret } from "../../base/words/secret.ts";
import { copyInto, openDatabase, quickCheck } from "../../base/sqlite/database.ts";
import { bindKey, createMeta } from "../../base/sqlite/meta.ts";
import { createSeal, type Seal } from "../../base/sqlite/seal.ts";
import { createWriter, type WriteOptions } from "../../base/sqlite/write.ts";
import { settleAddresses } from "./address-forms.ts";
import { type Apps, createApps } from "./apps.ts";
import { type Audit, createAudit } from "./audit.ts";
import { type Browsers, createBrowsers } from "./browsers.ts";
import { createWebhookDeliveries, type WebhookDeliveries } from "./webhook-deliveries.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";
import { createIdentities, type Identities } from "./identities.ts";
import { createImportForms, type ImportForms } from "./import-forms.ts";
import { createInstances, type Instances } from "./instances.ts";
import { createKeys, type Keys } from "./keys.ts";
import { createMails, type Mails } from "./mails.ts";
import { first } from "./migrations/0001-first.ts";
import { second } from "./migrations/0002-state-clients.ts";
import { third } from "./migrations/0003-one-time-counts.ts";
import { fourth } from "./migrations/0004-spent-tokens.ts";
import { fifth } from "./migrations/0005-address-forms.ts";
import { sixth } from "./migrations/0006-delivery-subjects.ts";
import { createOauthStates, type OauthStates } from "./oauth-states.ts";
import { createOneTime, type OneTimes } from "./one-time.ts";
import { createProviders, type Providers } from "./providers.ts";
import { createPurge, type Purge } from "./purge.ts";
import { createRefreshChains, type RefreshChains } from "./refresh-chains.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import { createSharedRead } from "./shared-read.ts";
import { createShownUsers, type ShownUsers } from "./shown-users.ts";
import { createSigningPairs, type SigningPairs } from "./signing-pairs.ts";
import { createTokenSubjects, type TokenSubjects } from "./token-subjects.ts";
import { followUsers } from "./touched-users.ts";
import { createUsers, type Users } from "./users.ts";

/** In order and for ever: a released migration is never edited, a change is a new file. */
export const identityMigrations: readonly string[] = [first, second, third, fourth, fifth, sixth];

/** The nouns of the identity service. Reads see the last commit; call what writes only inside `write`. */
export interface IdentityNouns {
  apps: Apps;
  instances: Instances;
  keys: Keys;
  providers: Providers;
  users: Users;
  identities: Identities;
  importForms: ImportForms;
  sessions: Sessions;
  oauthStates: OauthStates;
  oneTime: OneTimes;
  browsers: Browsers;
  mails: Mails;
  tokenSubjects: TokenSubjects;
  shownUsers: ShownUsers;
  refreshChains: RefreshChains;
  signingPairs: SigningPairs;
  audit: Audit;
  webhooks: Webhooks;
  webhookDeliveries: WebhookDeliveries;
  searchChanges: SearchChanges;
  purge: Purge;
}

/**
 * The store of the identity service: a database file of its own beside the platform's, so that a million users and
 * their searches never stand in the way of the reconciler. Held by the same lock of the root.
 */
export interface IdentityStore extends IdentityNouns {
  /** As `Store.write`: one transaction of its own inside a shared commit; resolves once that is durable. */
  write<T>(change: (nouns: IdentityNouns) => T, options?: WriteOptions): Promise<T>;
  /** Moves whenever apps, instances, keys or signing pairs may have changed: what was remembered of them is void. */
  generation(): number;
  /** Called after a commit that put webhook calls into the outbox, or changed where they go. */
  subscribeDeliveries(listener: () => void): () => void;
  check(): string;
  copyTo(path: string): void;
  close(): void;
}

interface IdentityStoreOptions {
  path: string;
  /** 32 bytes; the same key as the platform's database. */
  key: Secret<Uint8Array>;
  /** How many users who were verified, and how many who were looked up, are kept in memory; none where left out. */
  usersKept?: number;
}

/**
 * Fit for a million users: addresses and ids come in no order, so that every write touches pages all over their
 * indexes. They stay in memory, and go from the log to their places once for many writes.
 */
export function tuneForMany(db: Database): void {
  db.run("pragma cache_size = -32768");
  db.run("pragma wal_autocheckpoint = 8192");
  db.run(`pragma journal_size_limit = ${64 * 1024 * 1024}`);
}

/** Call it as the holder of the root's lock. Fails as `openStore` does. */
export function openIdentityStore({ path, key, usersKept = 0 }: IdentityStoreOptions): IdentityStore {
  const db = openDatabase(path, identityMigrations);
  try {
    tuneForMany(db);
    const seal = createSeal(key);
    bindKey(createMeta(db), seal, path);
    settleAddresses(db);
    return assemble(db, { file: path, seal, usersKept });
  } catch (error) {
    db.close();
    throw error;
  }
}

function assemble(
  db: Database,
  { file, seal, usersKept }: { file: string; seal: Seal; usersKept: number },
): IdentityStore {
  const listeners = new Set<() => void>();
  let added = false;
  const wake = () => {
    added = true;
  };
  const touched = followUsers(db);
  const reading = createSharedRead(db);
  let generation = 0;
  const changed = () => {
    generation += 1;
  };
  const nouns: IdentityNouns = {
    apps: createApps(db, changed),
    instances: createInstances(db, changed),
    keys: createKeys(db, seal, changed),
    providers: createProviders(db, seal),
    users: createUsers(db),
    identities: createIdentities(db, seal),
    importForms: createImportForms(db),
    sessions: createSessions(db),
    oauthStates: createOauthStates(db, seal),
    oneTime: createOneTime(db, seal),
    browsers: createBrowsers(db),
    mails: createMails(db, seal),
    tokenSubjects: createTokenSubjects(db, reading, usersKept),
    shownUsers: createShownUsers(db, reading, usersKept),
    refreshChains: createRefreshChains(db),
    signingPairs: createSigningPairs(db, seal, changed),
    audit: createAudit(db),
    webhooks: createWebhooks(db, seal, wake),
    webhookDeliveries: createWebhookDeliveries(db, wake),
    searchChanges: createSearchChanges(db),
    purge: createPurge(db),
  };
  const nothing = () => undefined;
  const writer = createWriter<never>({
    db,
    file,
    onMoved: nothing,
    keyText: (key) => key,
    onBegin: reading.end,
    onUndone: changed,
    onCommitted() {
      const users = touched.take();
      nouns.tokenSubjects.forget(users.changed);
      nouns.shownUsers.forget(users.changed);
      nouns.shownUsers.forget(users.joined);
    },
  });
  const tell = () => {
    if (!added) return;
    added = false;
    for (const listener of listeners) listener();
  };
  return {
    ...nouns,
    async write(change, options) {
      const result = await writer.write(() => change(nouns), options);
      tell();
      return result;
    },
    subscribeDeliveries(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    generation: () => generation,
    check: () => quickCheck(db),
    copyTo(target) {
      reading.end();
      copyInto(db, target);
    },
    close() {
      writer.close();
      reading.end();
      db.close();
    },
  };
}

/** Rows that the search index must look at again; triggers write them. */
interface SearchChanges {
  /** Forgets those that are done with: up to this number. */
  drop(upto: number): void;
  /** Keeps the newest; the index notices the gap and is rebuilt. Returns how many went. */
  trim(kept: number): number;
}

function createSearchChanges(db: Database): SearchChanges {
  const drop = db.query<unknown, [number]>("delete from search_changes where n <= ?");
  const trim = db.query<unknown, [number]>(
    "delete from search_changes where n <= (select max(n) from search_changes) - ?",
  );
  return {
    drop(upto) {
      drop.run(upto);
    },
    trim: (kept) => trim.run(kept).changes,
  };
}
