/** Limits for the contract's own client alone; see `config.ts` for those of all requests. */
export const contractClientLimits = {
  /** It hangs up 30 s after its request, and gets an answer within these. */
  contractClientMs: 25_000,
} as const;
