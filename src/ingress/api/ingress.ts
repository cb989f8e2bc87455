import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { OneOf } from "../../base/wire/shape.ts";

const ProxyStatus = Type.Object({
  state: OneOf(
    ["running", "starting", "failing", "stopped", "waiting", "unavailable", "off"],
    "failing: the proxy serves an older state or does not run, see problem; waiting: HAProxy is not installed, and the first ingress makes the server fetch its image; unavailable: HAProxy is missing or too old; off: the server listens on no address for visitors",
  ),
  version: Type.Optional(Type.String({ description: "of HAProxy" })),
  image: Type.Optional(Type.String({ description: "what HAProxy runs from; absent: it is installed" })),
  pid: Type.Optional(Type.Integer()),
  uptime_seconds: Type.Optional(Type.Integer({ description: "since HAProxy last loaded its files" })),
  connections: Type.Optional(Type.Integer({ description: "open connections of visitors" })),
  problem: Type.Optional(Type.String()),
  listen: Type.Object({ http: Type.Array(Type.String()), https: Type.Array(Type.String()) }),
});

const IngressUpstream = Type.Object({
  replica: Type.String(),
  container: Type.String({ description: "container id" }),
  address: Type.String({ description: "IP address and port" }),
  state: OneOf(["ready", "leaving"], "leaving: it receives no new requests and finishes the others"),
  weight: Type.Integer(),
  active: Type.Integer({ description: "requests under way" }),
});

export const IngressSite = Type.Object({
  ingress: Type.String({ description: "SCOPE/NAME" }),
  hosts: Type.Array(Type.String()),
  paths: Type.Array(Type.String()),
  tcp: Type.Optional(Type.String({ description: "address of a TCP port" })),
  target: Type.String({ description: "SCOPE/NAME of the deployment or statefulset, or @identity" }),
  plugin: Type.Optional(Type.String({ description: "plugin that routes it in place of HAProxy" })),
  tls: Type.Boolean(),
  maintenance: Type.Boolean(),
  asleep: Type.Optional(Type.Boolean({ description: "true: no replica runs, the first request starts the app" })),
  upstreams: Type.Array(IngressUpstream),
  problems: Type.Array(Type.String()),
  requests: Type.Integer({
    description: "since HAProxy last loaded its files; of a TCP port, connections; 0 where a plugin routes",
  }),
  failed: Type.Integer({ description: "answers of 500 and above among them" }),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
  queued: Type.Integer({ description: "requests that wait for a replica with a free connection" }),
});
export type IngressSite = Static<typeof IngressSite>;

const IngressStatus = Type.Object({ proxy: ProxyStatus, sites: Type.Array(IngressSite) });
export type IngressStatus = Static<typeof IngressStatus>;

export const getIngress = endpoint({
  method: "GET",
  path: "/ingress",
  scope: "read",
  summary: "State of the proxy; each ingress with its hosts, replicas, problems and totals",
  data: IngressStatus,
});

export const reloadIngress = endpoint({
  method: "POST",
  path: "/ingress/reload",
  summary:
    "Lets the proxy load its files, or starts it after a stop, and calls plugins that route again; no request is lost",
  data: IngressStatus,
});

export const stopIngress = endpoint({
  method: "POST",
  path: "/ingress/stop",
  summary: "Stops the proxy: every site is down until a reload or the next start of the server",
  data: IngressStatus,
});
