/** Limits of the commands that install and upgrade a server, and of the end of its process; see `config.ts` for those of the server itself. */
export const serverLimits = {
  /** A server that does not answer within this after its start is not healthy. */
  healthyMs: 20_000,
  /** How often it is asked until then. */
  lookMs: 100,
  /** Upgrades whose former executable and state are kept. */
  upgradesKept: 3,
  /** For the download of an executable, and its largest size. */
  releaseMs: 10 * 60_000,
  releaseBytesMax: 512 * 1024 * 1024,
  /** Size of its checksums, its signature, the name of the latest, and a file with keys. */
  releaseTextBytesMax: 64 * 1024,
  /** A server that has stopped and whose process goes on names what it has open after this, and ends. */
  endMs: 1_000,
} as const;
