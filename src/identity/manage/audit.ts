import type { DataOf } from "../../api/endpoint.ts";
import type { IdentityAuditEntry, listIdentityAudit } from "../../api/orchestration/identity-audit.ts";
import { encodeCursor } from "../../core/identity/cursor.ts";
import type { AuditEntry, Instance } from "../../store/identity/records.ts";
import { readCursor } from "../listing.ts";
import { isoTime, type ManageContext, type Query, requireInstance } from "./context.ts";

/** The audit trail, newest first. */
export interface ManagedAudit {
  list(instance: string | undefined, query: Query): Promise<DataOf<typeof listIdentityAudit>>;
}

export type SearchAudit = (
  instance: Instance,
  query: Query,
) => Promise<{ rows: AuditEntry[]; next: string | undefined }>;

export function createManagedAudit(context: ManageContext, search: SearchAudit): ManagedAudit {
  return {
    async list(id, query) {
      const instance = requireInstance(context, id);
      const { rows, next } = query.query === undefined ? page(context, instance, query) : await search(instance, query);
      return { entries: rows.map(wire), ...(next === undefined ? {} : { next }) };
    },
  };
}

function page({ store }: ManageContext, { seq }: Instance, { limit, cursor }: Query) {
  const [before] = readCursor(cursor, 1) ?? [];
  const rows = store.audit.list(seq, { limit, ...(before === undefined ? {} : { before }) });
  const last = rows.at(-1);
  return { rows, next: last === undefined || rows.length < limit ? undefined : encodeCursor([last.seq]) };
}

function wire(entry: AuditEntry): IdentityAuditEntry {
  const { userId, email, sessionId, provider, ipAddress } = entry;
  return {
    id: entry.id,
    at: isoTime(entry.at),
    actor: entry.actor,
    action: entry.action,
    ...(userId === undefined ? {} : { user_id: userId }),
    ...(email === undefined ? {} : { email }),
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(provider === undefined ? {} : { provider }),
    ...(ipAddress === undefined ? {} : { ip_address: ipAddress }),
    detail: entry.detail,
  };
}
