import { contextLimits } from "./context-limits.ts";
import { logLimits } from "./log-limits.ts";
import { metricLimits } from "./metric-limits.ts";

/** How the disk is measured, and what bounds the stores of the server. */
export const diskLimits = {
  /** A measurement is good for so long. */
  freshMs: 60_000,
  /** Size of a file with a passphrase: its first line counts. */
  passphraseFileBytesMax: 64 * 1024,
  /** Files of one store that are looked at. */
  filesMax: 200_000,
  caps: {
    metrics: metricLimits.bytesMax,
    logs: logLimits.store.bytesMax,
    builds: contextLimits.keptBytesMax,
  },
};
