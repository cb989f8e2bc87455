/** Limits of branches that run in scopes of their own. */
export const previewLimits = {
  /** At one time. */
  countMax: 100,
  /** How often it is looked whether one has ended. */
  lookMs: 60_000,
  branchCharactersMax: 250,
};
