import { openGate } from "./open-gate.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startThread } from "../../src/base/words/thread.ts";
import type { InstanceSettings } from "../../src/identity/api/settings.ts";
import { identityLimits } from "../../src/config/config.ts";
import { createIdentityApp } from "../../src/identity/http/app.ts";
import type { IdentityContext } from "../../src/identity/service/context.ts";
import { createIdentity, type RunningIdentity } from "../../src/identity/service/create.ts";
import type { InstanceEntry } from "../../src/identity/service/directory.ts";
import type { StartSearchThread } from "../../src/identity/service/search-thread.ts";
import { createInstances } from "../../src/identity/service/instances.ts";
import { startSession } from "../../src/identity/service/sessions.ts";
import { createLog } from "../../src/base/words/log.ts";
import { identityMigrations, openIdentityStore } from "../../src/identity/store/open-store.ts";
import type { Session, User } from "../../src/identity/store/records.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { putDatabase, testKey } from "./store-root.ts";
import { deliverAll } from "./webhooks.ts";

/** An instance with its keys in the clear. */
export interface Tenant {
  id: string;
  secretKey: string;
  publishableKey: string;
  /** As it stands now. */
  entry(): InstanceEntry;
}

export interface Asked {
  headers?: Record<string, string>;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Of the body, where it is JSON; undefined without one. */
  json: unknown;
}

/** The identity service in process, over a store of its own; `close` it. */
export interface IdentityWorld {
  running: RunningIdentity;
  context: IdentityContext;
  clock: FakeClock;
  /** Of the database. */
  path: string;
  /** Every line of the log. */
  logged: string[];
  tenant(settings?: InstanceSettings, host?: string): Promise<Tenant>;
  user(tenant: Tenant, fields?: Partial<User>): Promise<User>;
  session(tenant: Tenant, user: User, fields?: { provider?: string; device?: string }): Promise<Session>;
  /** A user, signed in, and the token that the browser was sent back with. */
  signedIn(tenant: Tenant, fields?: Partial<User>): Promise<{ user: User; session: Session; token: string }>;
  /** `ask("GET /api/v1/users", {headers})`. */
  ask(request: string, asked?: Asked): Promise<Answer>;
  /** As it comes over the wire. */
  fetch(request: Request): Promise<Response>;
  close(): void;
}

const searchWorker = new URL("../../src/identity/store/search/worker.ts", import.meta.url).href;
const identityTestLimits = identityLimits;

export type IdentityTestLimits = typeof identityTestLimits;

export interface IdentityWorldOptions {
  baseUrl?: string;
  allowPrivate?: boolean;
  isServed?: boolean;
  /** X-Forwarded-For says who the client is. */
  behindProxy?: boolean;
  /** Defaults to the real thread. */
  startSearch?: StartSearchThread;
}

export function identityWorld(
  overrides: Partial<Record<keyof IdentityTestLimits, unknown>> = {},
  {
    baseUrl = "http://127.0.0.1:8688",
    allowPrivate = true,
    isServed = true,
    behindProxy = false,
    startSearch = startThread(searchWorker),
  }: IdentityWorldOptions = {},
): IdentityWorld {
  const folder = mkdtempSync(join(tmpdir(), "identity-"));
  const path = join(folder, "identity.db");
  putDatabase(path, identityMigrations);
  const store = openIdentityStore({ path, key: testKey, usersKept: identityLimits.usersKept });
  const clock = createFakeClock();
  const logged: string[] = [];
  const log = createLog((line) => logged.push(line), "debug");
  const testLimits = { ...identityTestLimits, ...overrides } as IdentityTestLimits;
  const running = createIdentity({
    gate: openGate,
    store,
    key: testKey,
    clock,
    log,
    limits: testLimits,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    fetch: (url, init) => fetch(url, init),
    resolve: () => Promise.resolve(["127.0.0.1"]),
    baseUrl,
    isServed,
    allowPrivate,
    sendWebhook: deliverAll,
    search: { database: path, index: `${path}.search`, start: startSearch },
  });
  const { identity, context } = running;
  const proxies = { peerOf: () => "203.0.113.7", trusted: [behindProxy ? "203.0.113.7/32" : "127.0.0.1/32"] };
  const app = createIdentityApp({ identity, log, limits: testLimits, proxies });
  const manage = createInstances(context, running.identity.signingPairs);
  let count = 0;
  const world: IdentityWorld = {
    running,
    context,
    clock,
    path,
    logged,
    async tenant(settings = {}, host) {
      count += 1;
      const id = `app_${count}`;
      await store.write(({ apps }) => apps.put({ id, name: `app-${count}`, createdAt: clock.now() }));
      const hosted = host === undefined ? {} : { host };
      const made = await manage.create({ app: id, name: "main", settings, ...hosted }, { actor: "test" });
      return {
        id: made.id,
        secretKey: made.secret_key,
        publishableKey: made.publishable_key,
        entry: () => entryOf(context, made.id),
      };
    },
    user(tenant, fields = {}) {
      count += 1;
      const now = clock.now();
      const user = {
        id: crypto.randomUUID(),
        instance: tenant.entry().instance.seq,
        email: `user${count}@example.test`,
        name: `User ${count}`,
        avatarUrl: `https://example.test/${count}.png`,
        emailVerifiedAt: now,
        placeholder: false,
        passwordHash: undefined,
        bannedAt: undefined,
        createdAt: now,
        updatedAt: now,
        ...fields,
      };
      return store.write(({ users }) => users.add(user));
    },
    session: (tenant, user, { provider = "google", device } = {}) =>
      store.write((nouns) =>
        startSession(nouns, {
          instance: tenant.entry().instance,
          user,
          provider,
          ip: "203.0.113.7",
          userAgent: "test",
          device,
          now: clock.now(),
        }),
      ),
    async signedIn(tenant, fields) {
      const user = await world.user(tenant, fields);
      const session = await world.session(tenant, user);
      return { user, session, token: identity.tokens.issue({ entry: tenant.entry(), user, session }) };
    },
    async ask(request, { headers = {}, body } = {}) {
      const [method = "", target = ""] = request.split(" ", 2);
      const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
      const init = { method, headers, ...(sent === undefined ? {} : { body: sent }) };
      const response = await app.fetch(new Request(`http://localhost${target}`, init));
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: jsonOf(response, text) };
    },
    fetch: async (request) => app.fetch(request),
    close() {
      running.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return world;
}

/** Headers of a server that holds the secret key of an instance. */
export function withSecret({ secretKey }: Tenant): Record<string, string> {
  return { "X-Service-Secret-Key": secretKey, "Content-Type": "application/json" };
}

/** Headers of a page that holds its publishable key. */
export function withPublishable({ publishableKey }: Tenant): Record<string, string> {
  return { "X-Service-Publishable-Key": publishableKey, "Content-Type": "application/json" };
}

function entryOf({ directory }: IdentityContext, id: string): InstanceEntry {
  const entry = directory.byId(id);
  if (entry === undefined) throw new Error(`no instance ${id}`);
  return entry;
}

function jsonOf({ headers }: Response, text: string): unknown {
  return headers.get("content-type")?.includes("json") ? JSON.parse(text) : undefined;
}
