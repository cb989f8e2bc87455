import { contextLimits } from "./context-limits.ts";

/** What a `git push` may bring. */
export const pushLimits = {
  /** One pack, as it is sent. */
  packBytesMax: contextLimits.packedBytesMax,
  /** The files of the pushed tree; those of a folder that is built from are the same. */
  bytesMax: contextLimits.bytesMax,
  filesMax: contextLimits.filesMax,
  /** What git may take of memory for a pack: a delta can make much from little. */
  gitMemoryBytesMax: 2 * 1024 ** 3,
  /** Branches and tags of one push. */
  refsMax: 1_000,
  /** For reading the pushed tree and writing its files. */
  gitMs: 120_000,
  /** What git says when it fails is kept this far. */
  gitErrorBytesMax: 16 * 1024,
  /** After so long without output a push gets a line, which shows whether it is still there. */
  silenceMs: 10_000,
};
