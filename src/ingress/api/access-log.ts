import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

/** One line of the access log. The query of a URL and headers may hold secrets, so they are never logged. */
export const AccessEntry = Type.Object({
  seq: Type.Integer({ description: "grows with every entry" }),
  time: Type.String({ description: "beginning of the request" }),
  ingress: Type.String({ description: "SCOPE/NAME" }),
  replica: Type.Optional(Type.String({ description: "absent when no replica answered" })),
  client: Type.String({ description: "IP address" }),
  method: Type.String(),
  host: Type.String(),
  path: Type.String({ description: "without the query" }),
  status: Type.Optional(Type.Integer({ description: "absent when the client left before the answer" })),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
  ms: Type.Integer({ description: "from the first byte of the request to the last one of the answer" }),
  held_ms: Type.Integer({ description: "how long it waited for a replica to become ready" }),
  retries: Type.Integer(),
  request_id: Type.String(),
});
export type AccessEntry = Static<typeof AccessEntry>;

export const listAccess = endpoint({
  method: "GET",
  path: "/ingress/logs",
  summary: "The access log, oldest first: the newest entries, or the newest of those after `after`",
  query: Type.Object({
    ingress: Text("SCOPE or SCOPE/NAME"),
    status: Text("404, or 5xx for a class"),
    request_id: Text("exact X-Berth-Request-Id"),
    after: Text("seq to continue from"),
    limit: Text("at most this many (default 100, at most 1000)"),
  }),
  data: Type.Object({ entries: Type.Array(AccessEntry) }),
});
