/** Limits of the commands that install and upgrade a server, and of the end of its process; see `config.ts` for those of the server itself. */
export const serverLimits = {
  /** A server that does not answer within this after its start is not healthy. */
  healthyMs: 20_000,
  /** How often it is asked until then. */
  lookMs: 100,
  /** How long a restored server may take until it answers: one that its service starts, and one that a person starts. */
  restoredAnswerMs: 3 * 60_000,
  restoredByHandMs: 30 * 60_000,
  /** Upgrades whose former executable and state are kept. */
  upgradesKept: 3,
  /** For the download of an executable, and its largest size. */
  releaseMs: 10 * 60_000,
  releaseBytesMax: 512 * 1024 * 1024,
  /** Size of its checksums, its signature, the name of the latest, and a file with keys. */
  releaseTextBytesMax: 64 * 1024,
  /** A server that has stopped and whose process goes on names what it has open after this, and ends. */
  endMs: 1_000,
  /** How often a server that waits for the end of a move looks whether it is over. */
  parkedLookMs: 300,
  /** How long a server may take to stop for a move, its containers going on, and how long the new one may take until all is ready. */
  parkMs: 2 * 60_000,
  movedReadyMs: 10 * 60_000,
  /** How long the connection of a move stays open while nothing goes over it, such as while an image is packed. */
  moveIdleMs: 60 * 60_000,
  /** What a move leaves free on the disks of the new machine. */
  moveSpareBytes: 1024 * 1024 * 1024,
} as const;
