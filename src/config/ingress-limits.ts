import { headBytes } from "../ingress/core/head-bytes.ts";

/** Limits of the ingress; see `config.ts` for those of everything else. */
export const ingressLimits = {
  /** What one manifest may ask for. */
  spec: {
    /** Hosts times locations: each pair is one entry in the routing table. */
    routesMax: 1_000,
    pathLengthMax: 1_024,
    /** Header changes of requests and of responses. */
    headersMax: 50,
    headerBytesMax: 4_096,
    usersMax: 100,
    /** Networks of `allow` and of `deny`. */
    networksMax: 500,
    /** The proxy keeps a page in one buffer of its own, beside the headers. */
    errorPageBytesMax: 16 * 1024,
    /** Size of a certificate with its chain, and of a key. */
    pemBytesMax: 64 * 1024,
    /** Head of a request. */
    headBytesMin: headBytes.least,
    headBytesMax: headBytes.most,
    holdMsMax: 60_000,
    holdRequestsMax: 10_000,
    /** How long a replica or a client may be silent. */
    timeoutMsMax: 24 * 3_600_000,
    rateMsMin: 1_000,
    rateMsMax: 24 * 3_600_000,
    rateRequestsMax: 10_000_000,
    connectionsMax: 100_000,
  },
} as const;
