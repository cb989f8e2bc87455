import { appsLimits } from "./apps-limits.ts";
import { telemetryLimits } from "./telemetry-limits.ts";

/** Limits of the observability plane; see `config.ts` for those of everything else. */
export const observabilityLimits = {
  /** Request body; one byte more is a 413. */
  bodyBytesMax: 1024 * 1024,
  /** Body of a sign-in: a token, or the code of a link. */
  signInBodyBytesMax: 16 * 1024,
  jsonDepthMax: 64,
  /** A connection on which nothing moves is closed after this long. Streams say something more often. */
  idleMs: 30_000,
  /** Requests under way at one time, streams included; one more is a 503. */
  requestsMax: 2_048,
  /** A request that comes while the server still starts waits so long for it. */
  startWaitMs: 10_000,
  /** Entries of X-Forwarded-For that are looked at. */
  forwardedHopsMax: 16,
  tokens: {
    /** Tokens that are good at one time, and revoked or expired ones that stay for the audit trail. */
    activeMax: 500,
    endedKept: 1_000,
    nameCharactersMax: 200,
    networksMax: 50,
    /** Longest life that may be asked for: ten years. */
    lifeMaxMs: 10 * 366 * 24 * 3_600_000,
    /** How long a token that was rotated stays good, unless something else is asked for. */
    graceMs: 15 * 60_000,
    /** The last use of a token is written down at most this often. */
    touchMs: 60_000,
    /** Characters of a User-Agent. */
    agentCharactersMax: 200,
  },
  sessions: {
    /** A browser stays signed in for so long, or until its token ends. */
    lifeMs: 12 * 3_600_000,
    /** Browsers that are signed in at one time. */
    openMax: 1_000,
    /** A one-time link is good for so long, and so many wait at one time. */
    linkMs: 60_000,
    linksMax: 100,
    /** A clock that was set ahead by more than this deletes none for so long. */
    clockJumpMs: 10 * 60_000,
    clockHoldMs: 24 * 3_600_000,
  },
  people: {
    /** People with a role. */
    max: 500,
    /**
     * A sign-in through the identity service is finished within this time; so many are under way, and of one client:
     * as many as there may be people, who may all sit in one office.
     */
    pendingMs: 10 * 60_000,
    pendingMax: 5_000,
    pendingOfClientMax: 500,
    /** How often streams of people are looked through for those whom the identity service has banned or signed out. */
    lookMs: 5_000,
  },
  rates: {
    /** Requests of one token that change something. */
    actions: { burst: 3, perMinute: 10 },
    /** Like `actions`, for a browser that is signed in, where a person clicks; and beside them the plans of any token. */
    clicks: { burst: 20, perMinute: 60 },
    /** All requests of one token. */
    reads: { burst: 300, perMinute: 3_000 },
    /** Wrong tokens from one client: an IPv4 address or an IPv6 /64. */
    failures: { burst: 10, perMinute: 10 },
    /** Requests of one token that were refused before they did anything and go on record all the same. */
    refusals: { burst: 20, perMinute: 10 },
    /** Keys that are remembered; beyond it the one that was not seen for longest is forgotten. */
    keysMax: 10_000,
  },
  /** Streams of one token, and of all, at one time. */
  streamsPerTokenMax: 64,
  streamsMax: 1_500,
  /** A stream that says nothing is kept open by a comment or an empty line this often. */
  pingMs: 5_000,
  /** How often streams are looked through for tokens that have expired. */
  expiryLookMs: 1_000,
  terminals: {
    /** Terminals of one token, and of all, at one time. */
    perTokenMax: 8,
    openMax: 64,
    /** One in which nothing is typed and nothing printed ends after this long; any ends after `lifeMs`. */
    idleMs: 30 * 60_000,
    lifeMs: 12 * 3_600_000,
    /** Input that the command has not read yet; more ends the terminal. */
    inputBytesMax: 1024 * 1024,
    /** Words of a command, and characters of all of them. */
    wordsMax: 256,
    commandCharactersMax: 16 * 1024,
  },
  files: {
    /** A file that is read or written in one request. */
    bytesMax: 256 * 1024 * 1024,
    /** Entries of a folder in one answer. */
    entriesMax: 1_000,
    /** How long a container may take to list a folder. */
    listMs: 15_000,
    /** Output of that, and what is read of a folder whose container has no shell. */
    listBytesMax: 8 * 1024 * 1024,
    scanBytesMax: 64 * 1024 * 1024,
  },
  /** The machine is read this often. */
  hostMs: 5_000,
  /** Entries of the audit trail; the newest stay. */
  auditKept: 100_000,
  auditPageMax: 1_000,
  /** Log searches and boards: how many, and the bytes of one as JSON. */
  saved: {
    searches: { countMax: 200, bytesMax: 4 * 1024 },
    boards: { countMax: 50, bytesMax: 16 * 1024 },
  },
  apps: appsLimits,
  pluginRoutes: {
    /** Bytes of one request and of one answer. */
    requestBytesMax: 256 * 1024 * 1024,
    answerBytesMax: 4 * 1024 * 1024 * 1024,
    /** Longest wait for the head of an answer, counted from the last byte of the request that moved. */
    headMs: 60_000,
    /** An answer on which nothing moves is cut after this long. */
    idleMs: 10 * 60_000,
  },
  plugins: {
    /** Characters of a plugin command's answer that an operation keeps. */
    outputCharactersMax: 16 * 1024,
  },
  telemetry: telemetryLimits.room,
} as const;
