/**
 * One line for each request, from the proxy to the server. Its fields are separated by spaces, which none of them
 * holds; what is not known is `-`.
 */
export interface AccessLine {
  /** Undefined when no site was found. */
  backend: string | undefined;
  /** Undefined when the proxy answered itself. */
  server: string | undefined;
  /** Undefined when the client went away before an answer. */
  status: number | undefined;
  bytesOut: number;
  bytesIn: number;
  /** Milliseconds; undefined where it did not come to that. */
  queueMs: number | undefined;
  connectMs: number | undefined;
  responseMs: number | undefined;
  /** From the first byte of the request to the last one of the answer. */
  totalMs: number | undefined;
  /** How long the request waited for a replica. */
  heldMs: number;
  retries: number;
  /** How the exchange ended, in HAProxy's two letters; `--` is a proper end. */
  ended: string;
  /** Beginning of the request, in epoch milliseconds. */
  at: number;
  requestId: string;
  client: string;
  method: string;
  host: string | undefined;
  /** Without the query. */
  path: string;
}

/** The fields in the order of `parseAccessLine()`. */
export const logFormat = [
  "%[var(txn.route),field(1,|)] %s %ST %B %U %Tw %Tc %Tr %Ta %[var(txn.held)] %rc %ts %Ts%ms",
  "%ID %[src] %HM %[var(txn.key),field(1,/)] %HPO",
].join(" ");

/** Undefined for a line that is none of ours, or was cut off. */
export function parseAccessLine(line: string): AccessLine | undefined {
  const fields = line.trimEnd().split(" ");
  if (fields.length !== 18) return undefined;
  const [backend, server, status, bytesOut, bytesIn, queue, connect, response, total] = fields;
  const [held, retries, ended = "", at, requestId = "", client = "", method = "", host, path = ""] = fields.slice(9);
  return {
    backend: known(backend),
    server: server?.startsWith("<") === true ? undefined : known(server),
    status: time(status),
    bytesOut: time(bytesOut) ?? 0,
    bytesIn: time(bytesIn) ?? 0,
    queueMs: time(queue),
    connectMs: time(connect),
    responseMs: time(response),
    totalMs: time(total),
    heldMs: time(held) ?? 0,
    retries: time(retries?.replace("+", "")) ?? 0,
    ended,
    at: time(at) ?? 0,
    requestId,
    client,
    method,
    host: known(host),
    path,
  };
}

const known = (field: string | undefined) => (field === "-" ? undefined : field);

function time(field: string | undefined): number | undefined {
  return field !== undefined && /^\d{1,16}$/.test(field) ? Number(field) : undefined;
}
