import type { AccessEntry } from "../api/access-log.ts";
import type { AccessLine } from "./access-line.ts";
import type { Place } from "./figures/attribution.ts";

/** Which entries of the access log are asked for. */
export interface AccessFilter {
  /** `<scope>` or `<scope>/<name>` of the ingress. */
  ingress?: string;
  /** `404`, or `5xx` for a class. */
  status?: string;
  requestId?: string;
  after?: number;
}

export function accessEntry(line: AccessLine, { site, answeredBy }: Place, seq: number): AccessEntry {
  return {
    seq,
    time: new Date(line.at).toISOString(),
    ingress: site,
    ...(answeredBy === undefined ? {} : { replica: answeredBy.replica }),
    client: line.client,
    method: line.method,
    host: line.host ?? "",
    path: line.path,
    status: line.status,
    bytes_in: line.bytesIn,
    bytes_out: line.bytesOut,
    ms: line.totalMs ?? 0,
    held_ms: line.heldMs,
    retries: line.retries,
    request_id: line.requestId,
  };
}

/** The entry of a line in the log; undefined for a line that was cut off by a crash. */
export function readEntry(text: string): AccessEntry | undefined {
  try {
    const entry: AccessEntry = JSON.parse(text);
    return Number.isSafeInteger(entry.seq) ? entry : undefined;
  } catch {
    return undefined;
  }
}

export function isAskedFor(entry: AccessEntry, { ingress, status, requestId, after }: AccessFilter): boolean {
  if (after !== undefined && entry.seq <= after) return false;
  if (ingress !== undefined && entry.ingress !== ingress && !entry.ingress.startsWith(`${ingress}/`)) return false;
  if (requestId !== undefined && entry.request_id !== requestId) return false;
  return status === undefined || hasStatus(entry, status);
}

export function isStatusFilter(text: string): boolean {
  return /^[1-5](?:xx|\d\d)$/.test(text);
}

function hasStatus({ status }: AccessEntry, wanted: string): boolean {
  return status !== undefined && (wanted.endsWith("xx") ? String(status)[0] === wanted[0] : String(status) === wanted);
}
