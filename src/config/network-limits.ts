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
} as const;
