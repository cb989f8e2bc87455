import { contextLimits } from "./context-limits.ts";

/** Source that the server reads for somebody else: an upload of a browser, a git repository. */
export const sourceLimits = {
  /** An upload, or the pack of a commit. */
  packedBytesMax: contextLimits.packedBytesMax,
  /** Files of it, unpacked. */
  bytesMax: contextLimits.bytesMax,
  filesMax: contextLimits.filesMax,
  inflation: contextLimits.inflation,
  /** Files that say how the app is built, such as a Dockerfile or a .gitignore, are read whole: more is refused. */
  textBytesMax: 1024 * 1024,
  /** The whole work of one: fetch, unpack, look, pack. */
  readMs: 5 * 60_000,
  /** At one time; the others wait. */
  atOnceMax: 2,
  /** Uploads that are on their way at one time. */
  receivedAtOnceMax: 8,
  /** What git may take of memory: a delta can make much from little. */
  gitMemoryBytesMax: 2 * 1024 ** 3,
  /** A server that sends less than this many bytes a second for this long is given up. */
  slowBytes: 1_000,
  slowSeconds: 30,
  /** What the process that reads says about the source, and lines of its progress. */
  answerBytesMax: 8 * 1024 * 1024,
  linesMax: 1_000,
  /** Left over folders of killed servers go after this long. */
  leftMs: 3_600_000,
};
