import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { IdentityAuditEntry, listIdentityAudit } from "../../api/manage/audit.ts";
import type { AuditEntry, Instance } from "../../store/records.ts";
import type { Searches } from "../search.ts";
import { allInstances, type ManageContext, type Place, placeOf, type Query } from "./context.ts";
import { findResources } from "./found.ts";

/** The audit trail, newest first. */
export interface ManagedAudit {
  list(place: Place, query: Query): Promise<DataOf<typeof listIdentityAudit>>;
}

export function createManagedAudit(context: ManageContext, search: Pick<Searches, "audit">): ManagedAudit {
  return {
    async list(place, query) {
      const instance = placeOf(context, place);
      if (instance === undefined && query.query !== undefined) {
        throw new Failure("invalid", "a query searches the trail of one instance: leave it out with global=true");
      }
      const { entries, next } =
        instance === undefined || query.query === undefined
          ? page(context, instance ?? allInstances, query)
          : await found(instance, query);
      return { entries, next };
    },
  };

  async function found(instance: Instance, query: Query) {
    const { resources, next } = await findResources(context, search.audit, { instance, query });
    return { entries: resources.map(({ id, data }) => foundEntry(id, data)), next };
  }
}

function page({ store, cursors }: ManageContext, { seq }: Pick<Instance, "seq">, { limit, cursor }: Query) {
  const place = { instance: seq, list: "audit" } as const;
  const [before] = cursors.read(place, cursor, 1) ?? [];
  const rows = store.audit.list(seq, { limit, ...(before === undefined ? {} : { before }) });
  const last = rows.at(-1);
  const next = last === undefined || rows.length < limit ? undefined : cursors.write(place, [last.seq]);
  return { entries: rows.map(wire), next };
}

/** Like `wire`, from what a search answers with, where only null is left out. */
function foundEntry(id: string, data: object): IdentityAuditEntry {
  const { created_at, ...rest } = data as Record<string, unknown> & { created_at: string };
  const there = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  return { id, at: created_at, ...there } as IdentityAuditEntry;
}

function wire(entry: AuditEntry): IdentityAuditEntry {
  const { userId, email, sessionId, provider, ipAddress } = entry;
  return {
    id: entry.id,
    at: isoTime(entry.at),
    actor: entry.actor,
    action: entry.action,
    user_id: userId,
    email,
    session_id: sessionId,
    provider,
    ip_address: ipAddress,
    detail: entry.detail,
  };
}
