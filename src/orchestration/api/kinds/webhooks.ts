import { type Static, Type } from "@sinclair/typebox";
import { webhookDefaults } from "./defaults.ts";
import { ListOf, MapOf, OneOf, Shape } from "../../../base/wire/shape.ts";

export const Webhook = Shape({
  url: Type.String({ description: "http or https address" }),
  method: Type.Optional(OneOf(["POST", "PUT", "PATCH", "DELETE"], "request method", webhookDefaults.method)),
  headers: Type.Optional(MapOf(Type.String(), "request headers; values are kept secret")),
  body: Type.Optional(MapOf(Type.Unknown(), "JSON body with {{field}} tokens; default is the whole payload")),
  file: Type.Optional(Type.String({ description: "asset reference whose content is the body; excludes body" })),
});
export type Webhook = Static<typeof Webhook>;

export const DeployWebhooks = Shape(
  {
    success: Type.Optional(ListOf(Webhook)),
    failure: Type.Optional(ListOf(Webhook)),
  },
  "requests sent after a rollout",
);
export type DeployWebhooks = Static<typeof DeployWebhooks>;

export const ProbeWebhooks = Shape(
  {
    failure: Type.Optional(ListOf(Webhook)),
    recovery: Type.Optional(ListOf(Webhook)),
  },
  "requests sent when a probe fails and when it recovers",
);
export type ProbeWebhooks = Static<typeof ProbeWebhooks>;
