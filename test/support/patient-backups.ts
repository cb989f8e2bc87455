import { backupLimits } from "../../src/config/backup-limits.ts";

/** For tests with restic itself: it gives way to all that runs beside it, which on a busy machine is longer than a server waits. */
export const patientBackups = { ...backupLimits, askMs: 110_000 };
