/** Limits of apps that sleep while they are not used; see `config.ts` for those of everything else. */
export const sleepLimits = {
  /** How often it is looked whether an app is in use; the more often, the shorter its `idle_after`. */
  sleepLookMinMs: 500,
  sleepLookMaxMs: 30_000,
} as const;
