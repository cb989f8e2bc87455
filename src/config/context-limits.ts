/** Folders that images are built from. */
export const contextLimits = {
  /** Size of one context, packed and unpacked. */
  packedBytesMax: 512 * 1024 * 1024,
  bytesMax: 2 * 1024 * 1024 * 1024,
  /** What comes out of one is so many times what came in at most, where it is more than this. */
  inflation: { ratioMax: 250, freeBytes: 64 * 1024 * 1024 },
  /** Files and links in one. */
  filesMax: 100_000,
  /** Size of all packed contexts together; the least recently used go first. */
  keptBytesMax: 2 * 1024 * 1024 * 1024,
  /** An abandoned upload is thrown away after this long. */
  unfinishedMs: 24 * 3_600_000,
  /** Apps whose files keep their times from build to build; the least recently built go first. */
  timedAppsMax: 1_000,
};
