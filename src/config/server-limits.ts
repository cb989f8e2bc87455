/** Limits of the commands that install and upgrade a server; see `config.ts` for those of the server itself. */
export const serverLimits = {
  /** A server that does not answer within this after its start is not healthy. */
  healthyMs: 20_000,
  /** How often it is asked until then. */
  lookMs: 100,
} as const;
