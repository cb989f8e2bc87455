import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { oneByName } from "./target.ts";

/** One webhook call and what became of it. Its body is not shown: it may hold a token. Times are ISO 8601. */
export const WebhookDelivery = Type.Object({
  /** The same as in the header of every attempt. */
  id: Type.String(),
  /** `deploy.success`, `deploy.failure`, `probe.failure` or `probe.recovery`. */
  event: Type.String(),
  method: Type.String(),
  /** Without the password that it may carry. */
  url: Type.String(),
  /** Names with masked values. */
  headers: Type.Record(Type.String(), Type.String()),
  body_bytes: Type.Integer(),
  status: Type.Union([Type.Literal("waiting"), Type.Literal("delivered"), Type.Literal("dropped")]),
  attempts: Type.Integer(),
  created_at: Type.String(),
  /** While it waits. */
  next_at: Type.Optional(Type.String()),
  /** Status or reason of the last attempt. */
  last_result: Type.Optional(Type.String()),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const listDeliveries = endpoint({
  method: "GET",
  path: "/hooks/deliveries",
  summary: "Webhook calls of one resource and what became of them, newest first",
  query: Type.Object({
    kind: Text("deployment or statefulset; found by itself where only one matches"),
    ...oneByName,
    limit: Text("at most this many (default 50, at most 1000)"),
  }),
  data: Type.Object({ deliveries: Type.Array(WebhookDelivery) }),
});
