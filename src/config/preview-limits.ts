/** Limits of branches that run in scopes of their own. */
export const previewLimits = {
  /** At one time. */
  countMax: 100,
  /** How often it is looked whether one has ended. */
  lookMs: 60_000,
  /** A clock that was set ahead by more than this ends none for so long. */
  clockJumpMs: 10 * 60_000,
  clockHoldMs: 24 * 3_600_000,
  branchCharactersMax: 250,
};
