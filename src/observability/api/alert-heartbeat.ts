import { type Static, Type } from "@sinclair/typebox";
import { alertsPath } from "./alerts.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

export const HeartbeatBody = Type.Object(
  {
    url: Type.String({ minLength: 1, maxLength: 2_000, description: "gets a GET; its service alerts when none comes" }),
    every: Type.Optional(Type.String({ maxLength: 20, description: "default 5m; at least 30s" })),
  },
  { additionalProperties: false },
);
export type HeartbeatBody = Static<typeof HeartbeatBody>;

/** A dead man's switch: a ping out, so that another service notices when this whole machine is gone. */
export const Heartbeat = Type.Object({
  enabled: Type.Boolean(),
  target: Type.Optional(Type.String({ description: "host of the address; the rest is a secret" })),
  every: Type.Optional(Type.String()),
  state: Type.Union(
    [Type.Literal("off"), Type.Literal("waiting"), Type.Literal("ok"), Type.Literal("failing"), Type.Literal("held")],
    {
      description: "held: the alerts are not evaluated, so no ping goes out",
    },
  ),
  last_at: Type.Optional(Type.String({ description: "of the last attempt" })),
  last_ok_at: Type.Optional(Type.String()),
  result: Type.Optional(Type.String({ description: "of the last attempt" })),
  failures: Type.Integer({ description: "in a row" }),
});
export type Heartbeat = Static<typeof Heartbeat>;

const path = `${alertsPath}/heartbeat`;

export const getHeartbeat = planeEndpoint({
  method: "GET",
  path,
  scope: "read",
  summary: "The heartbeat: where it pings, and how that goes",
  data: Heartbeat,
});

export const putHeartbeat = planeEndpoint({
  method: "PUT",
  path,
  scope: "admin",
  summary: "Pings an address every few minutes, for a service that alerts when no ping comes",
  body: HeartbeatBody,
  data: Heartbeat,
});

export const deleteHeartbeat = planeEndpoint({
  method: "DELETE",
  path,
  scope: "admin",
  summary: "Stops the pings",
  data: Heartbeat,
});
