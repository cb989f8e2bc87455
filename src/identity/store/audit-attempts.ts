import type { Database } from "bun:sqlite";
import { clientNetwork } from "../../base/pure/client-network.ts";
import { orderedJson } from "../../base/pure/canonical.ts";
import type { AuditEntry } from "./records.ts";

export type NewEntry = Omit<AuditEntry, "seq">;

export interface Folding {
  /** Entries that are newer take further attempts. Epoch milliseconds. */
  since: number;
  /** Newer entries of one action of an instance; whatever else comes is one entry. */
  most: number;
}

interface Row {
  seq: number;
  ip_address: string | null;
  detail: string;
}

const overflowWhy = "further attempts, by other clients or for other addresses";

/**
 * Records attempts so that no client floods the trail: one that says the same as a recent one, from the same client, is
 * counted there (`times` and `last_at` of its detail); beyond a number of different ones, all others are one entry.
 */
export function createAttempts(db: Database, append: (entry: NewEntry) => void) {
  const newest = (columns: string) =>
    `select ${columns} from audit where instance = ? and action = ? order by seq desc limit ?`;
  const alike = db.query<Row, (string | number | null)[]>(
    `select seq, ip_address, detail from (${newest("*")}) where at > ? and actor = ? and email is ? and provider is ?`,
  );
  const recent = db.query<{ n: number }, [number, string, number, number]>(
    `select count(*) as n from (${newest("at")}) where at > ?`,
  );
  const recount = db.query<unknown, [string, number]>("update audit set detail = ? where seq = ?");

  /** False when no entry says the same. */
  function fold(entry: NewEntry, { since, most }: Folding): boolean {
    const { instance, action, actor, email, provider } = entry;
    const about = [since, actor, email ?? null, provider ?? null];
    const said = statement(entry.ipAddress, entry.detail);
    // One more than may be: the one that stands for all others.
    for (const { seq, ip_address, detail } of alike.all(instance, action, most + 1, ...about)) {
      const { times, last_at, ...rest } = JSON.parse(detail) as Record<string, unknown>;
      if (statement(ip_address ?? undefined, rest) !== said) continue;
      const count = (typeof times === "number" ? times : 1) + 1;
      recount.run(JSON.stringify({ ...rest, times: count, last_at: new Date(entry.at).toISOString() }), seq);
      return true;
    }
    return false;
  }

  return (entry: NewEntry, folding: Folding): void => {
    if (fold(entry, folding)) return;
    const { instance, action } = entry;
    const isFull = (recent.get(instance, action, folding.most, folding.since)?.n ?? 0) >= folding.most;
    if (!isFull) {
      append(entry);
      return;
    }
    const nobody = { email: undefined, provider: undefined, userId: undefined, ipAddress: undefined };
    const overflow = { ...entry, ...nobody, detail: { why: overflowWhy } };
    if (!fold(overflow, folding)) append(overflow);
  };
}

function statement(ip: string | undefined, detail: Record<string, unknown>): string {
  return `${clientNetwork(ip ?? "").near} ${orderedJson(detail)}`;
}
