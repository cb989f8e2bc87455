import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { AccessEntry } from "../../ingress/api/access-log.ts";
import { listCertificates, renewCertificates } from "../../ingress/api/certificates.ts";
import { getIngress, IngressSite } from "../../ingress/api/ingress.ts";
import { SiteTraffic } from "../../ingress/api/traffic.ts";
import { aliasOf, planeEndpoint } from "./plane-endpoint.ts";

export const listSites = aliasOf(getIngress, {
  summary: "State of the proxy; each ingress with its hosts, replicas, problems, and the requests of the last minute",
  fixed: { traffic: "true" },
  data: Type.Object({
    proxy: Type.Index(getIngress.data ?? Type.Never(), ["proxy"]),
    sites: Type.Array(Type.Object({ ...IngressSite.properties, traffic: Type.Optional(SiteTraffic) })),
  }),
});

export const listCerts = aliasOf(listCertificates, {
  path: "/certs",
  summary: "Certificates with expiry, last error and next try, those that expire first first",
  shown: ({ certificates }) => ({
    certificates: certificates.toSorted((a, b) => (a.not_after ?? "").localeCompare(b.not_after ?? "")),
  }),
});

export const renewCert = aliasOf(renewCertificates, {
  path: "/certs/:host/renew",
  summary: "Begin to renew the certificates of a host at once; the budget of orders still holds",
});

/** One request of a visitor; the query of its URL and its headers are never kept. */
export const VisitorRequest = Type.Object({
  ...AccessEntry.properties,
  app: Type.Optional(Type.String({ description: "SCOPE/NAME that the ingress leads to" })),
});
export type VisitorRequest = Static<typeof VisitorRequest>;

export const listRequests = planeEndpoint({
  method: "GET",
  path: "/requests",
  scope: "read",
  summary: "The last requests of visitors, newest first, of the last thousand that the server keeps in memory",
  query: Type.Object({
    app: Text("SCOPE or SCOPE/NAME"),
    host: Text("exact host"),
    path: Text("beginning of the path"),
    method: Text("such as POST"),
    status: Text("404, or 5xx for a class"),
    slower_than: Text("took longer than this, such as 500ms"),
    request_id: Text("exact request id"),
    failed: Flag("only answers of 500 and above, and answers that broke off (default false)"),
    limit: Text("at most this many (default 100, at most 1000)"),
    cursor: Text("`next` of the answer before: goes on to older ones"),
  }),
  data: Type.Object({ requests: Type.Array(VisitorRequest), next: Type.Optional(Type.String()) }),
});
