import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Shape } from "../../../base/wire/shape.ts";
import { Text } from "../../../base/wire/query.ts";

const instance = Text("id of the instance (required)");

/** A webhook of an instance; what signs its calls is shown once. */
export const IdentityWebhook = Type.Object({
  id: Type.String(),
  url: Type.String({ description: "without the password that it may carry" }),
  events: Type.Array(Type.String(), { description: "empty for all" }),
  enabled: Type.Boolean(),
  created_at: Type.String(),
});
export type IdentityWebhook = Static<typeof IdentityWebhook>;

export const listIdentityWebhooks = endpoint({
  method: "GET",
  path: "/identity/hooks",
  summary: "Webhooks of an instance, oldest first",
  query: Type.Object({ instance }),
  data: Type.Object({ hooks: Type.Array(IdentityWebhook) }),
});

export const createIdentityWebhook = endpoint({
  method: "POST",
  path: "/identity/hooks",
  summary: "Makes a webhook; what signs its calls is shown in this answer and never again",
  query: Type.Object({ instance }),
  body: Shape(
    {
      url: Type.String({ maxLength: 2048 }),
      events: Type.Optional(Type.Array(Type.String(), { maxItems: 50, description: "default: all" })),
    },
    "a new webhook",
  ),
  data: Type.Composite([IdentityWebhook, Type.Object({ secret: Type.String() })]),
});

export const updateIdentityWebhook = endpoint({
  method: "PATCH",
  path: "/identity/hooks/:hook",
  summary:
    "Changes a webhook; what is left out stays. One that is not enabled hears nothing new, and what waits for it waits on",
  query: Type.Object({ instance }),
  body: Shape(
    {
      url: Type.Optional(Type.String({ maxLength: 2048 })),
      events: Type.Optional(Type.Array(Type.String(), { maxItems: 50, description: "empty for all" })),
      enabled: Type.Optional(Type.Boolean()),
    },
    "what to change",
  ),
  data: IdentityWebhook,
});

export const deleteIdentityWebhook = endpoint({
  method: "DELETE",
  path: "/identity/hooks/:hook",
  summary: "Deletes a webhook with the record of its calls",
  query: Type.Object({ instance }),
  data: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
});

/** Its body is not shown: it holds what an address book holds. */
const IdentityDelivery = Type.Object({
  id: Type.String(),
  event: Type.String(),
  status: Type.String({ description: "waiting, delivered or dropped" }),
  attempts: Type.Integer(),
  created_at: Type.String(),
  next_at: Type.Optional(Type.String()),
  last_result: Type.Optional(Type.String()),
});

export const listIdentityDeliveries = endpoint({
  method: "GET",
  path: "/identity/hooks/:hook/deliveries",
  summary: "Calls of a webhook and what became of them, newest first",
  query: Type.Object({ instance, limit: Text("at most this many (default 50, at most 1000)") }),
  data: Type.Object({ deliveries: Type.Array(IdentityDelivery) }),
});
