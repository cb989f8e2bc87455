import type { SteadyClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { derivedKey, type Secret } from "../lib/secret.ts";
import type { IdentityStore } from "../store/identity/open-store.ts";
import { createAccess } from "./auth.ts";
import type { IdentityContext, IdentityLimits } from "./context.ts";
import { createDirectory } from "./directory.ts";
import { createDiscovery } from "./discovery.ts";
import type { Identity } from "./identity.ts";
import { createLookup } from "./lookup.ts";
import { createRateLimits } from "./rate-limits.ts";
import { createRefresh } from "./refresh.ts";
import { createSessions } from "./sessions.ts";
import { createSigningPairs, type SigningPairs } from "./signing-pairs.ts";
import { createTokens } from "./tokens.ts";
import { createUsers } from "./users.ts";

export interface IdentityParts {
  store: IdentityStore;
  /** Of the installation: what is signed or derived outside the store comes from it. */
  key: Secret<Uint8Array>;
  clock: SteadyClock;
  log: Log;
  limits: IdentityLimits;
  randomBytes: (count: number) => Uint8Array;
  fetch: IdentityContext["fetch"];
  resolve: IdentityContext["resolve"];
  baseUrl: string;
  allowPrivate: boolean;
}

export interface RunningIdentity {
  identity: Identity;
  context: IdentityContext;
  /** What the service does on its own, until `signal` aborts; resolves when all of it has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** Wires the rooms of the identity service together. */
export function createIdentity(parts: IdentityParts): RunningIdentity {
  const { key, ...rest } = parts;
  const context: IdentityContext = {
    ...rest,
    directory: createDirectory(parts),
    rateLimits: createRateLimits({ clock: parts.clock, limits: parts.limits.rates }),
    derive: (purpose) => derivedKey(key, purpose),
  };
  const tokens = createTokens(context);
  const signingPairs = createSigningPairs(context);
  const identity: Identity = {
    access: createAccess(context),
    overview: context.directory.overview,
    rateLimits: context.rateLimits,
    discovery: createDiscovery(context),
    lookup: createLookup(context),
    tokens,
    sessions: createSessions(context),
    users: createUsers(context),
    refresh: createRefresh(context, tokens),
    signingPairs,
  };
  const loops: ((signal: AbortSignal) => Promise<void>)[] = [(signal) => tendPairs(context, signingPairs, signal)];
  return {
    identity,
    context,
    async run(signal) {
      await Promise.all(loops.map((loop) => loop(signal)));
    },
  };
}

/** Changes of settings make their pair at once; this is for those that came another way, and for old ones. */
async function tendPairs(context: IdentityContext, pairs: SigningPairs, signal: AbortSignal): Promise<void> {
  const { clock, log, limits } = context;
  while (!signal.aborted) {
    await pairs.tend().catch((error: unknown) => log.error("key pairs could not be tended", { error }));
    await clock.sleep(limits.tendMs, signal);
  }
}
