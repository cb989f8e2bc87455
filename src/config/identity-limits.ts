/** Limits of the identity service; see `config.ts` for those of everything else. */
export const identityLimits = {
  /** Limits of the hosted pages. */
  signIn: {
    /** Lifetime of a state (docs/contract/identity.md, 7), and of the cookie that binds it to the browser. */
    stateMs: 600_000,
    /** States that wait, over all instances. None is dropped for another: one too many is refused. */
    statesKept: 100_000,
    /** An instance may hold the first share of what is free, and a client the second one of what is free to its instance. */
    statesInstanceShare: 1 / 4,
    statesClientShare: 1 / 32,
    /** Links of mails that wait, over all instances; an instance may hold a share of what is free, then sign-ups get 503. */
    linksKept: 100_000,
    linksInstanceShare: 1 / 4,
    /** Links for a new password that wait for one user; a further request sends no more mail. */
    resetLinksMax: 5,
    /** Codes that stand for a token; beyond it those that end first are dropped. */
    codesKept: 100_000,
    /** Mails of one instance; the newest stay. */
    mailsKept: 1_000,
    /** How long a browser is known again. */
    deviceMs: 400 * 24 * 3_600_000,
    /** Lifetime of a code that stands for a token. */
    deliveryCodeMs: 60_000,
    verifyLinkMs: 24 * 3_600_000,
    resetLinkMs: 3_600_000,
    /** Time limits of one call to a provider until its head, and of all calls of one sign-in together. */
    providerHeadMs: 5_000,
    providerTotalMs: 10_000,
    providerBodyBytesMax: 1024 * 1024,
    /** How long endpoints and keys of issuers are remembered, and of how many; an unknown key is asked for sooner. */
    oidcCacheMs: 600_000,
    oidcCacheMax: 1_000,
    oidcRefetchMs: 10_000,
    /** How far the clock of an issuer may be from ours. */
    clockLeewayMs: 60_000,
    /** A request that must not tell whether there is a user with an address is answered no sooner. */
    evenMs: 250,
    passwordBytesMax: 1_024,
    /** Passwords that are hashed at the same time, each in a thread of its own, and that wait for that. */
    passwordWorkers: 2,
    passwordsWaitingMax: 64,
    /** Cost of argon2id: the memory of RFC 9106 section 4 for servers with little of it, one lane. */
    passwordMemoryKib: 64 * 1024,
    passwordPasses: 2,
    /** Pauses between the attempts at a mail: one more attempt than there are pauses. */
    mailPausesMs: [10_000, 60_000, 600_000, 3_600_000],
    mailTimeoutMs: 30_000,
    mailsInFlightMax: 2,
  },
  /** Request body; one byte more is a 413. */
  bodyBytesMax: 64 * 1024,
  /** A connection on which nothing moves is closed after this long. */
  idleMs: 30_000,
  /** Size of one token; a longer one cannot be ours: a letter that is not ASCII takes eight bytes there. */
  tokenBytesMax: 32 * 1024,
  /** Lists and searches fill up to this and then go on with a cursor: clients reject 1 MiB (docs/contract/identity.md, 3.2). */
  listBytesMax: 900_000,
  /** Rows read from the database at a time while a list fills. */
  listPageRows: 500,
  /** Lifetimes of a sign-in token (docs/contract/identity.md, 7), and of an access token that it was exchanged for. */
  signInTokenMs: 3_600_000,
  accessTokenMs: 900_000,
  /**
   * How long a used sign-in or refresh token still gets the newest token of its session, from its own first use: for
   * clients that repeat a lost request, and for the other tabs of a browser. As many first uses of one chain are kept,
   * which is what `session` allows within the grace.
   */
  refreshGraceMs: 30_000,
  refreshSpentMax: 600,
  /** How long a refresh token that several requests got at once is answered with itself, at most. */
  refreshHoldMaxMs: 600_000,
  /** Instances and keys that are kept in memory between two writes to them. */
  directoryMax: 10_000,
  /** `max_concurrent_sessions` of a new instance that says nothing else. */
  newInstanceSessionsMax: 100,
  /** Users who are kept in memory because their tokens are verified, and as many because apps look them up: about 1 kB each. */
  usersKept: 20_000,
  /** How often missing key pairs are made and old ones dropped. */
  tendMs: 60_000,
  appsMax: 1_000,
  instancesMax: 5_000,
  /** Keys of one instance; also its providers and its webhooks. */
  keysMax: 50,
  providersMax: 50,
  webhooksMax: 10,
  /** Size of one line of an import; how many faulty lines of one request are reported. */
  importLineBytesMax: 64 * 1024,
  importErrorsShown: 100,
  /** Users with the mailbox of another one that are reported at once, of a list or of one request of an import. */
  addressPairsShown: 100,
  search: {
    /** Size of one query, and number of its tokens; more is a 400. */
    queryBytesMax: 1_024,
    tokensMax: 20,
    /** Rows of one answer, which is full at `listBytesMax` in any case. */
    rowsMax: 10_000,
    /** Work that one search may take in the search thread, and the time until it is answered 503. */
    budgetMs: 1_500,
    deadlineMs: 8_000,
    searchesMax: 64,
    /** Instances with no more users, or sessions, have no index of them. */
    smallMax: 2_000,
    /** How often changes are taken into the indexes while no search runs. */
    idleMs: 1_000,
    /** Pages of the database that the search thread keeps in memory. */
    cacheKib: 32 * 1024,
  },
  /** Requests under way at one time; one more is a 503. */
  requestsMax: 2_048,
  /** Entries of X-Forwarded-For that are looked at. */
  forwardedHopsMax: 16,
  rates: {
    /**
     * Only failures of a client, which is an IPv4 address or an IPv6 /64, are counted: a whole office may be behind it.
     * What was refused, or never tried because the server was busy, is not counted.
     */
    rates: {
      /** Redirects of a client to a provider; one that comes back with a sign-in is given back. */
      start: { max: 600, perMs: 60_000 },
      /** Addresses to come back to that are not allowed: as many are put on record. */
      refused_redirect: { max: 30, perMs: 60_000 },
      /** Wrong passwords of a client, and for an account. */
      sign_in: { max: 10, perMs: 60_000 },
      sign_in_account: { max: 10, perMs: 60_000 },
      /** New sessions of a user. */
      signed_in: { max: 120, perMs: 60_000 },
      /**
       * Sign-ups and requests for a new password of a client. Each sends a mail to an address that the client chose, so
       * each counts, whether there is such a user or not. One whose link is used is given back.
       */
      sign_up: { max: 100, perMs: 600_000 },
      reset: { max: 100, perMs: 600_000 },
      /** Mails to one address. */
      reset_account: { max: 3, perMs: 60_000 },
      /** New passwords that are tried with one link. */
      reset_link: { max: 10, perMs: 60_000 },
      /** Wrong tokens of a client. Right ones still go through. */
      refresh: { max: 120, perMs: 60_000 },
      exchange: { max: 120, perMs: 60_000 },
      /** Exchanges and refreshes of one session. */
      session: { max: 1_200, perMs: 60_000 },
      /** Wrong keys of a client. Right ones still go through. */
      wrong_key: { max: 120, perMs: 60_000 },
    },
    /** Right or wrong is not known yet: so many of one client or account wait, while all its places are taken. */
    attemptsWaitingMax: 256,
    /** An IPv6 /48 may do as much as this many of its /64. */
    wideFactor: 16,
    /** Wrong passwords for one account in a row. */
    lockout: { free: 5, firstMs: 1_000, maxMs: 15 * 60_000 },
    keysMax: 100_000,
  },
  /** Entries of the audit trail of one instance; the newest stay. */
  auditKept: 100_000,
  /** Failed attempts of strangers that say the same are one entry for so long; so many different ones, then one for all. */
  attemptWindowMs: 3_600_000,
  attemptsMax: 300,
  /** Calls of one webhook, on record and waiting; the newest stay. */
  deliveriesKept: 10_000,
  /** Pauses between the attempts at a call: one more attempt than there are pauses. */
  webhookPausesMs: [5_000, 30_000, 120_000, 600_000, 3_600_000],
  /** Calls under way at the same time, of one webhook and of all. */
  webhookInFlightMax: 2,
  webhooksInFlightMax: 16,
  /** What goes by itself. */
  purge: {
    everyMs: 60_000,
    /** A clock that was set ahead by more than this deletes nothing for so long. */
    clockJumpMs: 10 * 60_000,
    clockHoldMs: 24 * 3_600_000,
    /** Rows of one write. */
    rowsMax: 1_000,
    /** How long sessions stay on record after they ended, and how many revoked ones of an instance. */
    endedSessionsMs: 90 * 24 * 3_600_000,
    revokedSessionsKept: 200_000,
    mailsMs: 30 * 24 * 3_600_000,
    /** Changes that the search index has not seen; beyond it the index is rebuilt. */
    changesKept: 1_000_000,
  },
} as const;
