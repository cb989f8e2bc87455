import { type Static, type TObject, Type } from "@sinclair/typebox";
import { Duration, ListOf, OneOf, Shape, Words } from "../../../base/wire/shape.ts";

export const Tls = Shape(
  {
    enabled: Type.Optional(Type.Boolean({ default: true, description: "false: plain HTTP in spite of the block" })),
    provider: Type.Optional(OneOf(["letsencrypt", "internal"], "who issues the certificate", "letsencrypt")),
    email: Type.Optional(Type.String({ description: "contact for the issuer" })),
    on_demand: Type.Optional(Type.Boolean({ default: false, description: "issue at the first handshake" })),
    ask: Type.Optional(Type.String({ description: "address asked for permission before issuing on demand" })),
  },
  "certificates; without the block plain HTTP",
);
export type Tls = Static<typeof Tls>;

export const Location = Shape({
  path: Type.String({ description: "prefix, starts with /" }),
  strip: Type.Optional(Type.Boolean({ default: false, description: "take the prefix off before passing on" })),
});
export type Location = Static<typeof Location>;

export const LoadBalancing = Shape(
  {
    policy: Type.Optional(
      OneOf(["round_robin", "random", "least_conn", "ip_hash"], "how a replica is picked", "round_robin"),
    ),
    interval: Type.Optional(Duration("pause between active checks; default: the readiness probe's period")),
  },
  "load balancing over replicas",
);

/** What an ingress and an `app` share. */
export const routingFields = {
  host: Type.Optional(Type.String({ description: "host name, or *.domain" })),
  hosts: Type.Optional(Words("several host names")),
  tls: Type.Optional(Tls),
  locations: Type.Optional(ListOf(Location, "path prefixes; empty: the whole host")),
  lb: Type.Optional(LoadBalancing),
};

export type RoutingFields = Static<TObject<typeof routingFields>>;
