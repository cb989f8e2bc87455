/** What an ingress does where its spec is silent; the field tables and the service that routes both read it here. */
export const routingDefaults = {
  policy: "round_robin",
  protocol: "http",
  provider: "letsencrypt",
  redirectStatus: 308,
  /** One year: what browsers' preload lists ask for. */
  hstsSeconds: 31_536_000,
  ratePer: "1m",
  head: "16Ki",
  timeout: "5m",
  /** A phone that loses its network, or a player that is full, reads on within minutes; a dead one holds little for so long. */
  clientTimeout: "5m",
  tunnel: "24h",
  holdFor: "10s",
  holdRequests: 500,
  accessLog: "off",
} as const;
