import type { AuditEntry } from "../store/records.ts";
import type { ObservabilityContext } from "./context.ts";

type StoredEntry = Omit<AuditEntry, "seq">;
type NewEntry = Omit<StoredEntry, "id" | "at">;

/** Entries that are dropped with one write at most. */
const trimMax = 1_000;
/** Writes between two looks at the cap. */
const trimEvery = 100;

/** An entry for what is done in one transaction with it, such as making a token. */
export function auditNote(at: number, done: Pick<NewEntry, "actor" | "ip" | "action" | "target">): StoredEntry {
  const id = crypto.randomUUID();
  return { ...done, id, at, params: {}, outcome: "ok", durationMs: 0, requestId: id };
}

/** The audit trail: who changed what with a token, or tried to. */
export interface AuditTrail {
  /** Resolves once the entry is on the disk. A failure to write is logged: what was done cannot be undone. */
  record(entry: NewEntry): Promise<void>;
}

export function createAuditTrail({ store, clock, log, limits }: ObservabilityContext): AuditTrail {
  let untilTrim = 0;
  return {
    async record(entry) {
      const isTrim = untilTrim <= 0;
      untilTrim = isTrim ? trimEvery : untilTrim - 1;
      const id = crypto.randomUUID();
      try {
        await store.write(({ audit }) => {
          audit.append({ ...entry, id, at: clock.now() });
          if (isTrim) audit.trim(limits.auditKept, trimMax);
        });
      } catch (error) {
        log.error("audit entry not written", { ...entry, error });
      }
    },
  };
}
