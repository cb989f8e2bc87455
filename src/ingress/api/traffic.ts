import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

export const SiteTraffic = Type.Object({
  ingress: Type.String({ description: "SCOPE/NAME" }),
  requests: Type.Integer(),
  rate: Type.Number({ description: "requests per second" }),
  status: Type.Object(
    {
      "1xx": Type.Integer(),
      "2xx": Type.Integer(),
      "3xx": Type.Integer(),
      "4xx": Type.Integer(),
      "5xx": Type.Integer(),
      none: Type.Integer({ description: "the client left before the answer" }),
    },
    { description: "requests by class of their status" },
  ),
  failed: Type.Integer({ description: "answers of 500 and above, and answers that broke off" }),
  five_minutes: Type.Object(
    { requests: Type.Integer(), failed: Type.Integer() },
    { description: "the same two of the last five minutes" },
  ),
  failed_routes: Type.Array(Type.Object({ route: Type.String(), failed: Type.Integer() }), {
    description: "where the newest failed requests of the last five minutes went, most of them first; at most 3",
  }),
  p50_ms: Type.Optional(Type.Integer({ description: "median time to the end of the answer; absent without requests" })),
  p99_ms: Type.Optional(Type.Integer()),
  held: Type.Integer({ description: "waited for a replica to become ready" }),
  retried: Type.Integer(),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
});
export type SiteTraffic = Static<typeof SiteTraffic>;

const Traffic = Type.Object({
  seconds: Type.Integer({ description: "length of the span" }),
  sites: Type.Array(SiteTraffic),
  dropped: Type.Integer({ description: "lines of the proxy that were too many to count, since the server started" }),
});
export type IngressTraffic = Static<typeof Traffic>;

export const getIngressTraffic = endpoint({
  method: "GET",
  path: "/ingress/traffic",
  summary:
    "Requests of the last minute for each ingress that had one in the last five: rate, statuses, failures, p50 and p99",
  data: Traffic,
});
