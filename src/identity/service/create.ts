import type { SteadyClock } from "../../base/words/clock.ts";
import type { SendMail } from "../../base/deliver/mail.ts";
import type { SendWebhook } from "../../base/deliver/webhook.ts";
import type { Gate } from "../../base/deliver/gate.ts";
import type { Log } from "../../base/words/log.ts";
import { reportPairs } from "./address-pairs.ts";
import { derivedKey, type Secret } from "../../base/words/secret.ts";
import type { IdentityStore } from "../store/open-store.ts";
import { createAccess } from "./auth.ts";
import type { IdentityContext, IdentityLimits } from "./context.ts";
import { createCursors } from "./cursors.ts";
import { createDirectory } from "./directory.ts";
import { createDiscovery } from "./discovery.ts";
import type { Identity } from "./identity.ts";
import { createHosted } from "./hosted.ts";
import { createHookOutbox } from "./webhook-outbox.ts";
import { createLookup } from "./lookup.ts";
import { createManagement } from "./manage/manage.ts";
import { createOwnApp } from "./own-app.ts";
import { serviceLane } from "./passwords.ts";
import { runPurge } from "./purge.ts";
import { createRateLimits } from "./rate-limits.ts";
import { createRefresh } from "./refresh.ts";
import { createSearches } from "./search.ts";
import { createSearchThread, type SearchThreadClient, type StartSearchThread } from "./search-thread.ts";
import { createSessions } from "./sessions.ts";
import { createSigningPairs, type SigningPairs } from "./signing-pairs.ts";
import { createTokens } from "./tokens.ts";
import { createUsers } from "./users.ts";

interface IdentityParts {
  store: IdentityStore;
  /** While it is closed, no mail and no webhook leaves. */
  gate: Gate;
  /** Key of the installation: what is signed or derived outside the store comes from it. */
  key: Secret<Uint8Array>;
  clock: SteadyClock;
  log: Log;
  limits: IdentityLimits;
  randomBytes: (count: number) => Uint8Array;
  fetch: IdentityContext["fetch"];
  resolve: IdentityContext["resolve"];
  baseUrl: string;
  /** False where the server does not listen for it: operators can still manage what there is. */
  isServed: boolean;
  allowPrivate: boolean;
  /** Undefined: mails are kept for an operator to look at. */
  sendMail?: SendMail | undefined;
  /** Makes one attempt at a call of a webhook. */
  sendWebhook: SendWebhook;
  /** Paths of the identity database and of its search index, and how the thread that uses them is started. */
  search: { database: string; index: string; start: StartSearchThread };
}

export interface RunningIdentity {
  identity: Identity;
  context: IdentityContext;
  /** Releases the search thread; searches that are under way are rejected with the advice to retry. */
  close(): void;
  /** What the service does on its own, until `signal` aborts; resolves when all of it has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** Wires the rooms of the identity service together. */
export function createIdentity(parts: IdentityParts): RunningIdentity {
  const { key, gate, sendMail, sendWebhook, search: searching, ...rest } = parts;
  const derive = (purpose: string) => derivedKey(key, purpose);
  const context: IdentityContext = {
    ...rest,
    cursors: createCursors({ derive, randomBytes: parts.randomBytes }),
    directory: createDirectory(parts),
    rateLimits: createRateLimits({ clock: parts.clock, limits: parts.limits.rates }),
    derive,
  };
  const tokens = createTokens(context);
  const signingPairs = createSigningPairs(context);
  const { hosted, mailing, passwords, providers } = createHosted({ context, tokens, send: sendMail });
  const thread = createThread(context, searching);
  const search = createSearches(context, thread);
  const identity: Identity = {
    access: createAccess(context),
    overview: context.directory.overview,
    rateLimits: context.rateLimits,
    discovery: createDiscovery(context),
    hosted,
    lookup: createLookup(context),
    tokens,
    sessions: createSessions(context),
    users: createUsers(context),
    search,
    refresh: createRefresh(context, tokens),
    signingPairs,
    ownApp: createOwnApp(context, { hosted, tokens }),
    manage: createManagement(context, {
      hashPassword: (password) => passwords.hash(password, serviceLane),
      signingPairs,
      search,
      buttons: providers.buttons,
    }),
  };
  const loops: ((signal: AbortSignal) => Promise<void>)[] = [
    (signal) => wakeToIndex(context, thread, signal),
    (signal) => tendPairs(context, signingPairs, signal),
    gate.whenOpen((signal) => mailing.run(signal)),
    gate.whenOpen((signal) => createHookOutbox(context, sendWebhook).run(signal)),
    (signal) => runPurge(context, signal),
  ];
  return {
    identity,
    context,
    close: thread.close,
    async run(signal) {
      reportPairs(context);
      await Promise.all(loops.map((loop) => loop(signal)));
    },
  };
}

function createThread(context: IdentityContext, { start, database, index }: IdentityParts["search"]) {
  const { store, clock, log, limits } = context;
  const { deadlineMs, ...rest } = limits.search;
  return createSearchThread({
    start,
    setup: { database, index, ...rest },
    deadlineMs,
    clock,
    log,
    onIndexed(changes) {
      store
        .write(({ searchChanges }) => searchChanges.drop(changes), { durable: false })
        .catch((error: unknown) => log.error("search changes not dropped", { error }));
    },
  });
}

/**
 * Starts the search thread once there is an instance: a thread takes 3 MiB, and looks for changes every second. Its index is
 * also how a start knows that there were users (`refuseLostUsers`).
 */
async function wakeToIndex(context: IdentityContext, thread: SearchThreadClient, signal: AbortSignal): Promise<void> {
  const { store, clock, limits } = context;
  while (!signal.aborted && store.instances.isEmpty()) await clock.sleep(limits.tendMs, signal);
  if (!signal.aborted) thread.wake();
}

/** Changes of settings make their pair at once; this is for those that came another way, and for old ones. */
async function tendPairs(context: IdentityContext, pairs: SigningPairs, signal: AbortSignal): Promise<void> {
  const { clock, log, limits } = context;
  while (!signal.aborted) {
    await pairs.tend().catch((error: unknown) => log.error("key pairs could not be tended", { error }));
    await clock.sleep(limits.tendMs, signal);
  }
}
