import { contextLimits } from "./context-limits.ts";

/** Limits of the client. */
export const clientLimits = {
  /** How long a read may take; calls that do work have no limit of their own. */
  answerMs: 30_000,
  pollMs: 400,
  /** Default of `--timeout`. */
  waitMs: 300_000,
  /** A wait ends when the server gave no answer for so long. */
  silenceMs: 60_000,
  /** How long an apply waits for certificates, and until the server knows of a new host. */
  certificateMs: 30_000,
  certificateSeenMs: 3_000,
  manifestFilesMax: 1_000,
  /** Size of one manifest file, asset file or env file. */
  fileBytesMax: 8 * 1024 * 1024,
  manifestDepthMax: 64,
  /** Values of one manifest file, aliases counted each time they are used. */
  manifestNodesMax: 200_000,
  /** Documents in one file: the server takes no more manifests in one apply. */
  manifestDocumentsMax: 1_000,
  faultsShownMax: 20,
  /** Faults of all manifests that a check on this machine collects, for -o json. A server collects fewer. */
  faultsMax: 10_000,
  /** Files and bytes of a folder that an import makes a part of an asset. */
  assetFolderFilesMax: 100,
  assetFolderBytesMax: 1024 * 1024,
  /** Files and bytes of a folder that is built from; those of the server are the same. */
  folder: { filesMax: contextLimits.filesMax, bytesMax: contextLimits.bytesMax, textBytesMax: 8 * 1024 * 1024 },
  /** Pods whose logs are read at the same time. */
  logStreamsMax: 32,
  /** Files and bytes of one `cp`; the server has the same limit of bytes. */
  copy: { filesMax: 200_000, bytesMax: 8 * 1024 * 1024 * 1024 },
  /** Connections through one `port-forward` at one time, and what waits in each for a slow reader. */
  forwardsMax: 100,
  forwardBytesMax: 256 * 1024,
  /** How often `logs --follow` looks for new replicas. */
  followMs: 2_000,
  /** Tunnels to remotes. */
  tunnel: {
    /** How long ssh may take to reach the other machine. */
    connectMs: 10_000,
    /** How long the server may take to answer through a new tunnel. */
    answerMs: 10_000,
    /** A tunnel that carries nothing is closed after this long. */
    idleMs: 600_000,
    /** When the operator hears that a read has no answer yet. */
    lateMs: 5_000,
    /** How often ssh looks whether the other machine is still there; after three looks without an answer it gives up. */
    aliveMs: 5_000,
    /** How often `berth tunnel` asks the server, so that the connection stays open. */
    holdMs: 15_000,
    /** How long a second command waits while another one opens the same tunnel. */
    openedByOtherMs: 120_000,
    remotesMax: 1_000,
    fileBytesMax: 1024 * 1024,
  },
  /** How often `top` redraws. */
  topMs: 2_000,
} as const;
