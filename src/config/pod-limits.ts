/** What is taken from pods and sent to them by hand. */
export const podLimits = {
  /** A merged log that is followed says an empty line after so long without a line. */
  logPingMs: 25_000,
  /** Connections to ports of pods at one time; one more is a 429. */
  forwardsMax: 256,
  /** Bytes of one such connection that may wait for a slow reader. */
  forwardBytesMax: 256 * 1024,
  /** Copies from and to pods at one time; one more is a 429. */
  copiesMax: 8,
  /** Size of one copy, as an archive. */
  copyBytesMax: 8 * 1024 * 1024 * 1024,
  /** How long a port of a pod may take to answer. */
  forwardMs: 10_000,
};
