/** Limits of what keeps connections to containers on this machine. */
export const networkLimits = {
  /** How often the server looks whether the platform's network is where it was. */
  lookMs: 30_000,
  /** Addresses of a network that was replaced by another one stay closed for so long: connections to them have ended by then. */
  formerMs: 10 * 60_000,
  /** Subnets that are closed at one time; the oldest is opened again. */
  subnetsMax: 16,
  /** For one change of the table of routes. */
  changeMs: 5_000,
  /** The name server of the containers. */
  names: {
    port: 53,
    /** Longer queries are not answered: a name has 255 bytes. */
    queryBytesMax: 1_232,
    connectionsMax: 512,
    /** Connections of one container. */
    clientConnectionsMax: 32,
    connectionSeconds: 5,
    /** How often it looks whether its file is still there, and the server whether it still runs. */
    aliveLookMs: 1_000,
    /** How often the server reads which name servers the machine asks, which costs no question to Docker. */
    hostMs: 5_000,
    lookMs: 30_000,
    /** Like `lookMs`, while something is wrong, as each look then starts processes. */
    retryMs: 30_000,
    /** How long it tries to open its port, which the one before may hold. */
    openMs: 2_000,
    openAgainMs: 5,
    /** How often the server asks as a container would: a firewall may have been changed. */
    proveMs: 5 * 60_000,
    /** For one such question, and until it is sent again. */
    askMs: 2_000,
    askAgainMs: 300,
    /** For all of it, with the process that asks. */
    proofMs: 10_000,
    /** A new container waits so long for the first look at the network. */
    firstLookMs: 15_000,
    /** Docker asks no more name servers than these. */
    serversMax: 3,
    /** Short names of services that are kept from other name servers. */
    shortMax: 20_000,
  },
} as const;
