import { type Static, type TObject, Type } from "@sinclair/typebox";
import { Duration, ListOf, Shape, Words } from "../../../base/wire/shape.ts";
import { routingDefaults } from "./routing-defaults.ts";
import { connectionFields, httpRoutingFields } from "./routing-http.ts";
import { Tls } from "./tls.ts";

const Location = Shape({
  path: Type.String({ description: "prefix, starts with /" }),
  strip: Type.Optional(Type.Boolean({ default: false, description: "take the prefix off before passing on" })),
});

/** How HAProxy picks a replica. */
export const policies = ["round_robin", "random", "least_conn", "ip_hash"] as const;

const LoadBalancing = Shape(
  {
    policy: Type.Optional(
      Type.String({
        default: routingDefaults.policy,
        description: `how a replica is picked: ${policies.join(", ")}; where a plugin routes, any word that it knows`,
      }),
    ),
    interval: Type.Optional(Duration("pause between active checks; default: the readiness probe's period")),
  },
  "load balancing over replicas",
);

const Tcp = Shape(
  {
    port: Type.Integer({ minimum: 1, maximum: 65535, description: "port of the server that clients connect to" }),
    address: Type.Optional(Type.String({ description: "IP address of the server to listen on; default: all of them" })),
  },
  "passes TCP connections on as they are, for example to a database; with tls, TLS ends at the ingress",
);

/** What an ingress and an `app` share. */
export const routingFields = {
  host: Type.Optional(Type.String({ description: "host name, *.domain, or * for all other hosts" })),
  hosts: Type.Optional(Words("several host names")),
  shared: Type.Optional(
    Type.Boolean({
      default: false,
      description: "other scopes may add paths to the hosts; each of their ingresses needs it too",
    }),
  ),
  tls: Type.Optional(Tls),
  locations: Type.Optional(ListOf(Location, "path prefixes; empty: the whole host")),
  lb: Type.Optional(LoadBalancing),
  ...httpRoutingFields,
  ...connectionFields,
  tcp: Type.Optional(Tcp),
  plugin: Type.Optional(
    Type.String({
      description: "plugin that routes in place of HAProxy: it gets host, service, port, tls, locations and lb",
    }),
  ),
};

export type RoutingFields = Static<TObject<typeof routingFields>>;
