import type { PinnedFetch } from "../../base/deliver/pinned.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { Secret } from "../../base/words/secret.ts";
import type { IdentityStore } from "../store/open-store.ts";
import type { Cursors } from "./cursors.ts";
import type { Directory } from "./directory.ts";
import type { SignInLimits } from "./limits.ts";
import type { RateLimits, RateLimitsConfig } from "./rate-limits.ts";

/** What is counted apart; see `rates` in `config/identity-limits.ts`, where each is explained. */
export type RateBucket =
  | "start"
  | "refused_redirect"
  | "sign_in"
  | "sign_in_account"
  | "signed_in"
  | "sign_up"
  | "reset"
  | "reset_account"
  | "reset_link"
  | "refresh"
  | "exchange"
  | "session"
  | "wrong_key";

/** Bounds that the identity service keeps; see `identityLimits` of `config.ts`, where each is explained. */
export interface IdentityLimits {
  tokenBytesMax: number;
  listBytesMax: number;
  listPageRows: number;
  addressPairsShown: number;
  signInTokenMs: number;
  accessTokenMs: number;
  refreshGraceMs: number;
  refreshSpentMax: number;
  refreshHoldMaxMs: number;
  newInstanceSessionsMax: number;
  directoryMax: number;
  signIn: SignInLimits;
  tendMs: number;
  appsMax: number;
  instancesMax: number;
  keysMax: number;
  providersMax: number;
  importLineBytesMax: number;
  importErrorsShown: number;
  webhooksMax: number;
  rates: RateLimitsConfig<RateBucket>;
  auditKept: number;
  attemptWindowMs: number;
  attemptsMax: number;
  deliveriesKept: number;
  webhookPausesMs: readonly number[];
  webhookInFlightMax: number;
  webhooksInFlightMax: number;
  purge: {
    everyMs: number;
    clockJumpMs: number;
    clockHoldMs: number;
    rowsMax: number;
    endedSessionsMs: number;
    revokedSessionsKept: number;
    mailsMs: number;
    changesKept: number;
  };
  search: {
    queryBytesMax: number;
    tokensMax: number;
    rowsMax: number;
    budgetMs: number;
    deadlineMs: number;
    searchesMax: number;
    smallMax: number;
    idleMs: number;
    cacheKib: number;
  };
}

/** What every room of the identity service works with; made once by `create.ts`. */
export interface IdentityContext {
  store: IdentityStore;
  /** Instances and their keys, from memory. */
  directory: Directory;
  rateLimits: RateLimits<RateBucket>;
  cursors: Cursors;
  clock: SteadyClock;
  log: Log;
  limits: IdentityLimits;
  randomBytes: (count: number) => Uint8Array;
  /** A key for one purpose alone, made from the key of the installation. */
  derive: (purpose: string) => Secret<Uint8Array>;
  fetch: PinnedFetch;
  /** All addresses of a host name. */
  resolve: (hostname: string) => Promise<string[]>;
  /** Where browsers reach the service, without a slash at the end. */
  baseUrl: string;
  /** Whether anybody answers there. */
  isServed: boolean;
  /** Providers and webhooks may live inside the machine and its networks, and be http. */
  allowPrivate: boolean;
}
